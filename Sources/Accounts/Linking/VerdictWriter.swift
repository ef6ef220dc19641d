internal import Foundation
internal import ProviderKit

/// Carries out the verdict on a sign-in: spends the evidence, writes identities, and opens the session.
struct VerdictWriter: Sendable {
    typealias Store = RefusalWriter.Store & NumberRecycling.Store & SessionOpeningStore & SingleUseStore
        & ProviderTokenStore & AddressClaimStore & AccountRestoration.Store & TransactionalStore

    let session: NewSession
    /// The contacts of the accounts that the verdict may add an identity to.
    let contacts: [UUID: OwnerContact]
    let tokens: SessionTokens
    let store: any Store

    private var application: Application { session.application }

    func write(_ verdict: LinkingVerdict) async throws -> SignInOutcome {
        switch verdict.outcome {
        case .signIn(let match):
            try await spendEvidence()
            return try await signIn(by: match, recording: record(of: verdict))
        case .create(let identity):
            guard session.mayOpenAccount else { throw UnknownIdentity() }
            try await spendEvidence()
            try await displace(identity.displacing)
            try await evictOthers(from: identity.claiming, owner: nil)
            let opened = try await store.createAccount(
                opening: session, with: identity, recording: record(of: verdict))
            try await keepTokens(of: opened.identityID)
            return .opened(opened, secret: session.secret)
        case .restore(let match, let purgeAfter):
            guard try await AccountRestoration(store: store, application: application).restore(match.uid) != nil else {
                // The erasure has begun, so no token could restore the account either.
                let outcome = LinkingOutcome.deleted(uid: match.uid, purgeAfter: purgeAfter, offersRestore: false)
                return try await RefusalWriter(session: session, tokens: tokens, store: store)
                    .write(LinkingVerdict(.accountDeleted, outcome))
            }
            try await spendEvidence()
            return try await signIn(by: match, recording: record(of: verdict))
        case .otherSignInRequired, .deleted, .disabled, .full, .refuse:
            return try await RefusalWriter(session: session, tokens: tokens, store: store).write(verdict)
        case .link, .upgrade, .replaceGuest, .conflict:
            // Only `LinkWriter` writes verdicts on links.
            throw StoreConflict()
        }
    }

    func record(of verdict: LinkingVerdict) -> EvidenceRecord {
        verdict.record(of: session.evidence, in: application)
    }

    /// Consumes evidence that may be presented only once; a refusal does not call this.
    func spendEvidence() async throws {
        guard let proof = session.evidence.singleUse else { return }
        try await store.spendOrRefuse(proof, provider: session.provider, application: application.id)
    }

    func signIn(by match: AccountMatch, recording record: EvidenceRecord) async throws -> SignInOutcome {
        switch match {
        case .known(let identity):
            if session.evidence.tokens != nil {
                // An unlink locks the account before the row of the tokens; the same order here avoids a deadlock.
                try await store.lock([identity.uid], session: nil, application: application.id)
            }
            try await keepTokens(of: identity.id)
            return try await open(identity)
        case .joining(let identity, let uid): return try await open(adding: identity, recording: record, to: uid)
        }
    }

    func open(_ identity: KnownIdentity) async throws -> SignInOutcome {
        let opened = try await store.open(session, identity: identity)
        return .opened(opened, secret: session.secret)
    }

    /// Adds an identity to a locked account, opens a session with it, and notifies the owner.
    func open(
        adding identity: NewIdentity, recording record: EvidenceRecord, to uid: UUID
    ) async throws -> SignInOutcome {
        // One statement suffices, unless tokens are stored in between or the device may be new, which `open` checks.
        guard session.deviceMark == nil, session.evidence.tokens == nil else {
            return try await open(try await add(identity, recording: record, to: uid))
        }
        let id = UUID.v7()
        // These writes come first, so that they are sent together with the statement.
        try await publish(identity, id: id, of: uid)
        let opened = try await store.openSession(session, adding: identity, id: id, recording: record, to: uid)
        return .opened(opened, secret: session.secret)
    }

    /// Adds an identity to a locked account and notifies the owner.
    func add(
        _ identity: NewIdentity, recording record: EvidenceRecord, to uid: UUID
    ) async throws -> KnownIdentity {
        let added = try await store.add(identity, provenBy: session, recording: record, to: uid)
        try await keepTokens(of: added.id)
        try await publish(identity, id: added.id, of: uid)
        return added
    }

    /// Removes other people's claims on a new identity's addresses, and notifies the owner and the webhooks.
    private func publish(_ identity: NewIdentity, id: UUID, of uid: UUID) async throws {
        try await evictOthers(from: identity.showing, owner: uid)
        // Opening the session stores the client's languages; the notice uses those that the owner had before.
        let contact = (contacts[uid] ?? OwnerContact()).adding(identity.claiming)
        try await OwnerNotices(store: store, application: application.id).send(
            .identityLinked, to: contact, ofOwnerOf: uid,
            provider: application.providers.displayName(of: session.provider))
        try await store.announce(
            [.identity(.identityLinked, id, of: uid, provider: session.provider)], application: application.id)
    }

    private func keepTokens(of identity: UUID) async throws {
        guard let tokens = session.evidence.tokens else { return }
        try await store.keep(tokens, of: identity, application: application.id)
    }

    /// Removes other people's unproven claims on the addresses that were proved.
    private func evictOthers(from addresses: [Address], owner: UUID?) async throws {
        guard !addresses.isEmpty else { return }
        try await store.evictUnprovenClaims(on: addresses, owner: owner, application: application.id)
    }

    func displace(_ owner: AddressOwner?) async throws {
        try await NumberRecycling(store: store, application: application).displace(owner)
    }
}

/// Carries out the verdict on a link; the transaction has locked every account that the verdict concerns.
struct LinkWriter: Sendable {
    typealias Store = VerdictWriter.Store & GuestUpgradeStore & GuestSuccessorStore & MergeWriter.Store

    let session: NewSession
    let principal: Principal
    let contacts: [UUID: OwnerContact]
    let tokens: SessionTokens
    let store: any Store

    private var application: Application { principal.application }

    func write(_ verdict: LinkingVerdict) async throws -> SignInOutcome {
        let writer = VerdictWriter(session: session, contacts: contacts, tokens: tokens, store: store)
        switch verdict.outcome {
        case .link(let identity, let uid):
            try await writer.spendEvidence()
            try await writer.displace(identity.displacing)
            return try await writer.open(adding: identity, recording: writer.record(of: verdict), to: uid)
        case .upgrade(let identity, let guest):
            try await writer.spendEvidence()
            try await writer.displace(identity.displacing)
            let added = try await writer.add(identity, recording: writer.record(of: verdict), to: guest)
            try await store.endSessions(
                .allBut(principal.sessionID), of: guest, because: .guestUpgraded, application: application.id)
            let opened = try await store.upgradeGuest(opening: session, identity: added, keeping: principal.sessionID)
            // The answer has a session of the API, which a client's session is not.
            guard !principal.isOfClient else { return try await writer.open(added) }
            return .opened(opened, secret: session.secret)
        case .replaceGuest(let match, let isAbsorbed):
            try await writer.spendEvidence()
            try await replaceGuest(by: match.uid, isAbsorbed: isAbsorbed)
            return try await writer.signIn(by: match, recording: writer.record(of: verdict))
        case .conflict(let uid, let offersMerge):
            try await store.record(.refusal(verdict.rule, of: session, uid: principal.uid), application: application.id)
            guard offersMerge else { return .refused(.identityInUse(ticket: nil, verdict.refusal)) }
            let ticket = tokens.opaque.make()
            try await store.issue(
                .mergeTicket(ticket, with: uid, by: session, of: principal.sessionID), application: application.id)
            return .refused(.identityInUse(ticket: ticket.text, verdict.refusal))
        case .signIn, .create, .restore, .otherSignInRequired, .deleted, .disabled, .full, .refuse:
            return try await writer.write(verdict)
        }
    }

    /// Merges or deletes the guest's account; its access token can repeat the link for a minute.
    private func replaceGuest(by uid: UUID, isAbsorbed: Bool) async throws {
        if isAbsorbed {
            _ = try await MergeWriter(store: store, application: application)
                .merge(survivor: uid, absorbed: principal.uid)
            try await store.note(successor: uid, ofGuest: principal.sessionID, application: application.id)
        } else {
            try await GuestSwitch(store: store, application: application).move(principal, to: uid)
        }
    }
}

/// Records a refusal in the audit, and issues the ticket or restore token that it offers.
struct RefusalWriter: Sendable {
    typealias Store = ProofStore & AuditTrail

    let session: NewSession
    let tokens: SessionTokens
    let store: any Store

    func write(_ verdict: LinkingVerdict) async throws -> SignInOutcome {
        switch verdict.outcome {
        case .otherSignInRequired(let uid, let subject):
            try await record(verdict, uid: uid)
            let ticket = tokens.opaque.make()
            try await store.issue(
                .signInTicket(ticket, of: uid, subject: subject, by: session), application: session.application.id)
            return .refused(.secondProofRequired(ticket: ticket.text, verdict.refusal))
        case .deleted(let uid, let purgeAfter, let offersRestore):
            try await record(verdict, uid: uid)
            let token = offersRestore ? tokens.opaque.make() : nil
            if let token {
                try await store.issue(.restore(token, of: uid, by: session), application: session.application.id)
            }
            return .refused(.accountDeleted(purgeAfter: purgeAfter, restoreToken: token?.text, verdict.refusal))
        case .disabled:
            try await record(verdict, uid: nil)
            throw AccountsError.accountDisabled(verdict.refusal)
        case .full:
            let limit = session.application.policy.maximumIdentities
            throw AccountsError.limitReached(limit: limit, verdict.refusal)
        case .refuse: throw AccountsError.providerDisabled(verdict.refusal)
        case .signIn, .create, .link, .upgrade, .replaceGuest, .restore, .conflict: throw StoreConflict()
        }
    }

    private func record(_ verdict: LinkingVerdict, uid: UUID?) async throws {
        try await store.record(.refusal(verdict.rule, of: session, uid: uid), application: session.application.id)
    }
}

struct NumberRecycling: Sendable {
    typealias Store = AccountLocks & LinkingStore & DeletionScheduling.Store

    let store: any Store
    let application: Application

    /// Removes the number from its former owner, whose sessions become a guest's; an account that is empty is deleted.
    func displace(_ owner: AddressOwner?) async throws {
        guard let owner else { return }
        guard try await store.lockAccount(owner.uid, application: application.id) == .live else {
            throw StoreConflict()
        }
        guard try await !store.displace(owner, application: application.id) else { return }
        try await DeletionScheduling(store: store, application: application).schedule(owner.uid, by: .displaced)
    }
}
