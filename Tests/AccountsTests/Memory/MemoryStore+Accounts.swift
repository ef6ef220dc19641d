import Foundation
import ProviderKit

@testable import Accounts

extension MemoryStore: AccountLocks, OwnerContactStore, IdentityStore, IdentityRemovalStore, SessionEndStore {
    func lockAccount(_ uid: UUID, application: Application.ID) async throws -> AccountStatus? {
        try await run(application) { $0.status(of: uid) }
    }

    func lock(_ accounts: Set<UUID>, session: UUID?, application: Application.ID) async throws {}

    func lockSession(_ session: UUID, of uid: UUID, application: Application.ID) async throws -> Bool {
        try await run(application) { rows in rows.sessions[session].map { $0.uid == uid && rows.isLive($0) } ?? false }
    }

    func contact(of uid: UUID, application: Application.ID) async throws -> OwnerContact {
        try await run(application) { OwnerContact(addresses: $0.addresses(of: uid)) }
    }

    func identities(of uid: UUID, application: Application.ID) async throws -> [Identity] {
        try await run(application) { $0.identities(of: uid).map(\.identity) }
    }

    func identities(of principal: Principal) async throws -> [ListedIdentity] {
        try await run(principal.application.id) { rows in
            rows.identities(of: principal.uid).map {
                let isCurrent = $0.id == rows.sessions[principal.sessionID]?.identity
                return ListedIdentity(identity: $0.identity, isCurrent: isCurrent)
            }
        }
    }

    func identities(ofEach uids: [UUID], application: Application.ID) async throws -> [UUID: [Identity]] {
        try await run(application) { rows in
            Dictionary(uniqueKeysWithValues: uids.map { ($0, rows.identities(of: $0).map(\.identity)) })
        }
    }

    func lockIdentities(of principal: Principal) async throws -> LockedIdentities? {
        guard try await lock(principal) else { return nil }
        return LockedIdentities(
            identities: try await identities(of: principal),
            contact: try await contact(of: principal.uid, application: principal.application.id), beyondReach: [])
    }

    func knownIdentity(
        _ provider: String, _ providerUid: String, application: Application.ID
    ) async throws -> KnownIdentity? {
        try await run(application) { rows in rows.identity(provider, providerUid).flatMap { rows.known($0) } }
    }

    func removeIdentity(
        _ identity: UUID, of uid: UUID, details: [String: JSONValue], application: Application.ID
    ) async throws {
        try await run(application) { rows in
            guard let removed = rows.identities[identity], removed.uid == uid else { return }
            rows.identities[identity] = nil
            rows.passwords[identity] = nil
            for address in removed.verified where !rows.identities(of: uid).contains(where: { $0.isVerified(address) })
            {
                rows.owners[address] = nil
            }
        }
    }

    func endSession(
        _ session: UUID, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws -> Bool {
        let isLive = try await run(application) { $0.liveSessions(of: uid).contains { $0.id == session } }
        try await endSessions(.one(session), of: uid, because: reason, application: application)
        return isLive
    }

    func endSessions(
        _ selection: SessionSelection, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws {
        try await run(application) { rows in
            let ended = rows.liveSessions(of: uid).filter { session in
                switch selection {
                case .one(let id): session.id == id
                case .allBut(let id): session.id != id
                case .openedBy(let identities, _): identities.contains(session.identity)
                // This store has no sessions of clients.
                case .ofClient: false
                case .all: true
                }
            }
            for session in ended {
                rows.sessions[session.id]?.endedAt = rows.now
                rows.sessions[session.id]?.reason = reason
            }
            switch selection {
            case .all, .allBut:
                rows.proofs = rows.proofs.filter {
                    $0.value.proof.uid != uid || ![.mergeTicket, .signInTicket].contains($0.value.kind)
                }
            case .one, .openedBy, .ofClient: break
            }
        }
    }
}

// There are no administrators.
extension MemoryStore: RoleIdentityStore {
    func identitiesWithRoles(
        beyond provider: String, _ providerUid: String, of uid: UUID, application: Application.ID
    ) async throws -> Set<UUID> { [] }
}

extension MemoryStore: MessageOutbox, EventOutbox, AuditTrail {
    func enqueue(_ messages: [Message], about uid: UUID?, application: Application.ID) async throws {
        try await run(application) { $0.messages += messages }
    }

    func announce(_ events: [AccountEvent], application: Application.ID) async throws {
        try await run(application) { $0.events += events.map(\.kind) }
    }

    func record(_ entry: AuditEntry, application: Application.ID) async throws {
        try await run(application) { $0.refusals.append(entry) }
    }
}

extension MemoryRows {
    struct Deletion: Sendable {
        let uid: UUID
        let requestedAt: Date
        let purgeAfter: Date
        let session: UUID?
        var isRestored = false
    }
}

extension MemoryStore: DeletionStore, ErasureStatusStore {
    func requestDeletion(
        of uid: UUID, by cause: DeletionCause, session: UUID?, receipt: UUID, gracePeriod: Duration,
        details: [String: JSONValue], application: Application.ID
    ) async throws -> Date {
        try await run(application) { rows in
            guard let account = rows.accounts[uid], account.purgeAfter == nil else { throw StoreConflict() }
            let purgeAfter = rows.now.addingTimeInterval(gracePeriod.inSeconds)
            rows.accounts[uid]?.purgeAfter = purgeAfter
            rows.deletions[receipt] = MemoryRows.Deletion(
                uid: uid, requestedAt: rows.now, purgeAfter: purgeAfter, session: session)
            return purgeAfter
        }
    }

    func restore(
        _ uid: UUID, details: [String: JSONValue], application: Application.ID
    ) async throws -> CancelledDeletion? {
        try await run(application) { rows in
            guard let purgeAfter = rows.accounts[uid]?.purgeAfter, purgeAfter > rows.now,
                let receipt = rows.deletions.first(where: { $0.value.uid == uid && !$0.value.isRestored })?.key
            else { return nil }
            rows.accounts[uid]?.purgeAfter = nil
            rows.deletions[receipt]?.isRestored = true
            rows.proofs = rows.proofs.filter { $0.value.proof.uid != uid || $0.value.kind != .restore }
            return CancelledDeletion(session: rows.deletions[receipt]?.session)
        }
    }

    func erasure(receipt: UUID, application: Application.ID) async throws -> ErasureStatus? {
        try await run(application) { rows in
            rows.deletions[receipt].map {
                ErasureStatus(
                    phase: $0.isRestored ? .restored : .scheduled, requestedAt: $0.requestedAt,
                    purgeAfter: $0.purgeAfter, erasedAt: nil, processors: [], certificate: nil)
            }
        }
    }
}

extension MemoryStore: PasswordStore, PasswordResetStore, PasswordAttemptStore {
    func passwordIdentities(
        of uid: UUID, provider: String, preferring providerUid: String?, application: Application.ID
    ) async throws -> [PasswordIdentity] {
        try await run(application) { rows in
            rows.identities(of: uid).filter { $0.provider == provider }.compactMap { row in
                row.identity.email.map {
                    PasswordIdentity(
                        id: row.id, subject: PasswordSubject(providerUid: row.providerUid, address: $0),
                        hash: rows.passwords[row.id], decoy: nil)
                }
            }
        }
    }

    func setPassword(
        _ hash: PasswordHash, of identity: UUID, ownedBy uid: UUID, replacing expected: PasswordHash?,
        provingMailbox: Bool, application: Application.ID
    ) async throws {
        try await run(application) { rows in
            guard rows.identities(of: uid).contains(where: { $0.id == identity }) else { throw StoreConflict() }
            guard expected == nil || rows.passwords[identity] == expected else { throw StoreConflict() }
            rows.passwords[identity] = hash
        }
    }

    func passwordChangedAt(of identity: UUID, application: Application.ID) async throws -> Date? { nil }

    func endPending(of uid: UUID, application: Application.ID) async throws {
        try await run(application) { rows in rows.proofs = rows.proofs.filter { $0.value.proof.uid != uid } }
    }

    func quarantine(
        identitiesOf uid: UUID, linkedWithin time: Duration, butNot subject: PasswordSubject?,
        sparing spared: Set<UUID>, provider: String, application: Application.ID
    ) async throws {}

    func passwordState(
        of subject: PasswordSubject, provider: String, attempts: AttemptKey, application: Application.ID
    ) async throws -> PasswordState {
        try await run(application) { rows in
            let row = rows.identity(provider, subject.providerUid)
            return PasswordState(
                identity: row.flatMap { rows.known($0) }, hash: row.flatMap { rows.passwords[$0.id] },
                mustChange: false, registration: nil, isTaken: row != nil, ownerLanguages: nil, lockedFor: nil)
        }
    }

    func recordFailure(
        _ attempts: AttemptKey, of subject: PasswordSubject, provider: String, from source: RefusalSource,
        application: Application.ID
    ) async throws -> Bool { true }

    func clearFailures(_ attempts: AttemptKey, application: Application.ID) async throws {}
}
