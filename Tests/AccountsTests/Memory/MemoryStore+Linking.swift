import Foundation
import ProviderKit

@testable import Accounts

extension MemoryStore: LinkingStateStore, SessionOpeningStore, LinkingStore, GuestUpgradeStore, GuestSuccessorStore {
    func linkingReading(
        for evidence: VerifiedIdentity, of provider: String, requestedBy principal: Principal?,
        in application: Application
    ) async throws -> LinkingReading {
        try await run(application.id) { rows in
            let idleLimit = application.providers.phoneIdleLimit
            let oldest = rows.now.addingTimeInterval(-idleLimit.inSeconds)
            func isFull(_ uid: UUID) -> Bool {
                rows.identities(of: uid).count { !$0.isGuest } >= application.policy.maximumIdentities
            }
            let identity = rows.identity(provider, evidence.providerUid).flatMap { rows.known($0) }
            let owners = evidence.addresses.compactMap { claim -> AddressOwner? in
                let address = claim.address
                guard let owner = rows.owners[address], let status = rows.status(of: owner.uid) else { return nil }
                let showing = rows.identities(of: owner.uid).filter { $0.isVerified(address) }
                var found = AddressOwner(
                    address: address, uid: owner.uid, status: status,
                    isIdle: address.kind == .phone && owner.verifiedAt < oldest
                        && !showing.contains { max($0.lastUsedAt ?? $0.createdAt, $0.createdAt) >= oldest })
                found.needsOtherSignIn = !showing.isEmpty && showing.allSatisfy { $0.quarantinedAt != nil }
                found.isFull = identity == nil && isFull(owner.uid)
                return found
            }
            var state = LinkingState(identity: identity, owners: owners)
            if let principal, rows.status(of: principal.uid) == .live, let session = rows.sessions[principal.sessionID],
                session.uid == principal.uid, rows.isLive(session)
            {
                state.requester = RequestingAccount(
                    uid: principal.uid, isGuest: rows.identities(of: principal.uid).allSatisfy(\.isGuest),
                    isFull: isFull(principal.uid))
            }
            let concerned = Set(owners.map(\.uid) + [principal?.uid].compactMap { $0 })
            let contacts = concerned.map { ($0, OwnerContact(addresses: rows.addresses(of: $0))) }
            return LinkingReading(state, contacts: Dictionary(uniqueKeysWithValues: contacts))
        }
    }

    func require(
        _ stored: LinkingState, for evidence: VerifiedIdentity, of provider: String,
        requestedBy principal: Principal?, in application: Application
    ) async throws {
        let reading = try await linkingReading(
            for: evidence, of: provider, requestedBy: principal, in: application)
        guard reading.stored == stored else { throw StoreConflict() }
    }

    func openSession(
        _ session: NewSession, identity: KnownIdentity, password: PasswordPermission?
    ) async throws -> OpenedSession {
        try await run(session.application.id) { rows in
            guard rows.status(of: identity.uid) == .live, let row = rows.identities[identity.id],
                row.uid == identity.uid, (row.quarantinedAt != nil) == identity.isQuarantined,
                password == nil || rows.passwords[row.id] == password?.hash
            else { throw StoreConflict() }
            if session.provesIdentity { rows.identities[row.id]?.lastUsedAt = rows.now }
            return rows.open(session, by: row, isNewAccount: false)
        }
    }

    /// Accounts in memory know all devices.
    func openSession(
        onKnownDevice session: NewSession, identity: KnownIdentity, password: PasswordPermission?
    ) async throws -> OpenedSession? {
        try await openSession(session, identity: identity, password: password)
    }

    func createAccount(
        opening session: NewSession, with identity: NewIdentity, recording record: EvidenceRecord
    ) async throws -> OpenedSession {
        try await run(session.application.id) { rows in
            let uid = UUID.v7()
            rows.accounts[uid] = MemoryRows.Account(displayName: session.evidence.displayName, createdAt: rows.now)
            var row = try rows.insert(identity, of: session, to: uid)
            row.lastUsedAt = rows.now
            rows.identities[row.id] = row
            rows.events.append(.accountCreated)
            return rows.open(session, by: row, isNewAccount: true)
        }
    }

    func add(
        _ identity: NewIdentity, provenBy session: NewSession, recording record: EvidenceRecord, to uid: UUID
    ) async throws -> KnownIdentity {
        try await run(session.application.id) { rows in
            let count = rows.identities(of: uid).count { !$0.isGuest }
            guard rows.status(of: uid) == .live, count < session.application.policy.maximumIdentities else {
                throw StoreConflict()
            }
            let row = try rows.insert(identity, of: session, to: uid)
            return KnownIdentity(id: row.id, uid: uid, status: .live)
        }
    }

    func openSession(
        _ session: NewSession, adding identity: NewIdentity, id: UUID, recording record: EvidenceRecord, to uid: UUID
    ) async throws -> OpenedSession {
        let added = try await add(identity, provenBy: session, recording: record, to: uid)
        return try await openSession(session, identity: added, password: nil)
    }

    func displace(_ owner: AddressOwner, application: Application.ID) async throws -> Bool {
        try await run(application) { rows in
            rows.owners[owner.address] = nil
            for row in rows.identities(of: owner.uid) where row.isVerified(owner.address) {
                let isNumber = row.providerUid == owner.address.value
                let isInUse = rows.liveSessions(of: owner.uid).contains { $0.identity == row.id }
                guard !isNumber || isInUse else {
                    rows.identities[row.id] = nil
                    continue
                }
                rows.identities[row.id]?.shown.removeAll { $0 == owner.address }
                rows.identities[row.id]?.verified.remove(owner.address)
                guard isNumber else { continue }
                rows.identities[row.id]?.isGuest = true
                rows.identities[row.id]?.provider = "anonymous"
                rows.identities[row.id]?.providerUid = row.id.text
            }
            return !rows.identities(of: owner.uid).isEmpty
        }
    }

    func upgradeGuest(
        opening session: NewSession, identity: KnownIdentity, keeping current: UUID
    ) async throws -> OpenedSession {
        try await run(session.application.id) { rows in
            guard var kept = rows.sessions[current], rows.isLive(kept), kept.uid == identity.uid,
                let row = rows.identities[identity.id]
            else { throw StoreConflict() }
            rows.identities = rows.identities.filter { $0.value.uid != identity.uid || !$0.value.isGuest }
            kept.identity = identity.id
            kept.generation += 1
            kept.renewedAt = rows.now
            rows.sessions[current] = kept
            rows.identities[identity.id]?.lastUsedAt = rows.now
            if rows.accounts[identity.uid]?.displayName == nil {
                rows.accounts[identity.uid]?.displayName = session.evidence.displayName
            }
            return rows.opened(kept, by: row, methods: session.evidence.methods, isNewAccount: false)
        }
    }

    func successor(ofGuest session: UUID, application: Application.ID) async throws -> UUID? {
        try await run(application) { rows in
            guard let row = rows.sessions[session] else { return nil }
            let since = rows.now.addingTimeInterval(-60)
            if let successor = row.successor, let endedAt = row.endedAt, endedAt > since { return successor }
            return row.endedAt == nil && row.renewedAt.map { $0 > since } == true ? row.uid : nil
        }
    }

    func note(successor uid: UUID, ofGuest session: UUID, application: Application.ID) async throws {
        try await run(application) { rows in
            if rows.sessions[session]?.endedAt != nil { rows.sessions[session]?.successor = uid }
        }
    }
}

extension MemoryStore: AddressClaimStore, ProviderTokenStore, SingleUseStore {
    func evictUnprovenClaims(on addresses: [Address], owner: UUID?, application: Application.ID) async throws {
        try await run(application) { rows in
            for row in rows.identities.values where row.uid != owner {
                let evicted = addresses.filter { row.shown.contains($0) && !row.isVerified($0) }
                guard !evicted.isEmpty else { continue }
                rows.identities[row.id]?.shown.removeAll { evicted.contains($0) }
                rows.passwords[row.id] = nil
                for session in rows.liveSessions(of: row.uid) where session.identity == row.id {
                    rows.sessions[session.id]?.endedAt = rows.now
                    rows.sessions[session.id]?.reason = .addressProvenByAnother
                }
            }
        }
    }

    func discardDecoys(of address: EmailAddress, application: Application.ID) async throws {}

    func keep(_ tokens: ProviderTokens, of identity: UUID, application: Application.ID) async throws {}

    func dropTokens(of identity: UUID, application: Application.ID) async throws {}

    func revokeTokens(of identity: UUID, application: Application.ID) async throws {}

    func spend(_ proof: SingleUse, provider: String, application: Application.ID) async throws -> Bool {
        try await run(application) { $0.spent.insert("\(provider) \(proof.id)").inserted }
    }

    func spendOrRefuse(_ proof: SingleUse, provider: String, application: Application.ID) async throws {
        guard try await spend(proof, provider: provider, application: application) else { throw ProviderError.refused }
    }
}

extension MemoryRows {
    /// Inserts an identity and the addresses that it claims.
    ///
    /// - Throws: `StoreConflict` if the identity exists already, or an address has another owner.
    fileprivate mutating func insert(
        _ identity: NewIdentity, of session: NewSession, to uid: UUID
    ) throws -> IdentityRow {
        let evidence = session.evidence
        guard self.identity(session.provider, evidence.providerUid) == nil,
            identity.claiming.allSatisfy({ owners[$0] == nil })
        else { throw StoreConflict() }
        let named = evidence.addresses.map(\.address)
        let shown = Address.Kind.allCases.compactMap { kind in
            (identity.showing + named).first { $0.kind == kind }
        }
        let row = IdentityRow(
            id: .v7(), uid: uid, provider: session.provider, providerUid: evidence.providerUid,
            isGuest: evidence.isGuest, shown: shown, verified: Set(identity.showing), displayName: evidence.displayName,
            createdAt: now)
        identities[row.id] = row
        for address in identity.claiming { owners[address] = Owner(uid: uid, verifiedAt: now) }
        return row
    }

    fileprivate mutating func open(_ session: NewSession, by row: IdentityRow, isNewAccount: Bool) -> OpenedSession {
        let lifetime = session.application.policy.tokens.sessionLifetime.inSeconds
        let opened = SessionRow(
            id: session.id, uid: row.uid, identity: row.id, expiresAt: now.addingTimeInterval(lifetime),
            resumes: session.resumes, continues: session.continues)
        sessions[session.id] = opened
        return self.opened(opened, by: row, methods: session.evidence.methods, isNewAccount: isNewAccount)
    }

    fileprivate func opened(
        _ session: SessionRow, by row: IdentityRow, methods: [String], isNewAccount: Bool
    ) -> OpenedSession {
        let addresses = addresses(of: row.uid)
        let email = addresses.lazy.compactMap(\.email).first?.value
        let phone = addresses.lazy.compactMap(\.phone).first?.value
        let account = accounts[row.uid]
        let identities = identities(of: row.uid)
        let user = User(
            uid: row.uid, email: email, phone: phone, displayName: account?.displayName,
            isAnonymous: identities.allSatisfy(\.isGuest), providers: identities.map(\.provider),
            metadata: .object(account?.metadata ?? [:]), createdAt: account?.createdAt ?? now, updatedAt: now)
        return OpenedSession(
            grant: SessionGrant(
                sessionID: session.id, uid: row.uid, authenticatedAt: now, expiresAt: session.expiresAt,
                generation: session.generation, methods: methods, provider: row.provider, providerUid: row.providerUid,
                email: email, phone: phone),
            user: user, identityID: row.id, identityCreatedAt: row.createdAt, identityDisplayName: row.displayName,
            isNewAccount: isNewAccount, shouldChangePassword: false)
    }
}
