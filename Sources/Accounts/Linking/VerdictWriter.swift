internal import Foundation
internal import ProviderKit

/// What became of evidence that was not refused.
enum SignInOutcome: Sendable {
    case opened(OpenedSession, refreshToken: OpaqueToken)
    case deleted(AccountInGracePeriod)
    /// The evidence is another account's; the ticket, where there is one, merges the two.
    case conflict(ticket: OpaqueToken?, Refusal)
    case secondProof(ticket: OpaqueToken, Refusal)
}

/// The answer to valid evidence of an account in its grace period.
struct AccountInGracePeriod: Sendable {
    let purgeAfter: Date
    /// Restores the account; `nil` where the evidence would not sign in to it.
    let restoreToken: OpaqueToken?
    let refusal: Refusal

    var error: AccountsError { .accountDeleted(purgeAfter: purgeAfter, restoreToken: restoreToken?.text, refusal) }
}

/// Writes what a verdict says, in the transaction that the verdict was reached in.
struct VerdictWriter: Sendable {
    let tokens: SessionTokens

    /// `caller` is whoever asks for a link; their account, and every other that the verdict names, is locked.
    func write(
        _ verdict: LinkingVerdict, _ opening: SessionOpening, by provider: ConfiguredProvider,
        in application: Application,
        asked principal: Principal? = nil, store: any AccountsStore
    ) async throws -> SignInOutcome {
        if verdict.isSuccess { try await spend(opening, store: store) }
        switch verdict.outcome {
        case .enter(let entry):
            return try await enter(entry, opening, by: provider, store: store)
        case .create(let identity):
            try await displace(identity.displacing, in: application, store: store)
            let opened = try await store.createAccount(opening, with: identity)
            try await settle(
                opening, proven: identity.claiming, identity: opened.identityID, uid: opened.user.uid, store)
            return .opened(opened, refreshToken: opening.session.refreshToken)
        case .link(let identity, let uid):
            try await displace(identity.displacing, in: application, store: store)
            let added = try await add(identity, opening, to: uid, by: provider, store: store)
            let opened = try await store.openSession(opening, identity: added, password: nil)
            return .opened(opened, refreshToken: opening.session.refreshToken)
        case .upgrade(let identity, let guest):
            guard let principal else { throw StoreConflict() }
            try await displace(identity.displacing, in: application, store: store)
            let added = try await add(identity, opening, to: guest, by: provider, store: store)
            _ = try await store.endSessions(
                .allBut(principal.sessionID), of: guest, because: .guestUpgraded, application: application.id)
            let opened = try await store.upgradeGuest(opening, identity: added, keeping: principal.sessionID)
            return .opened(opened, refreshToken: opening.session.refreshToken)
        case .replaceGuest(let entry, let isAbsorbed):
            guard let principal else { throw StoreConflict() }
            try await leave(principal, for: entry.uid, isAbsorbed: isAbsorbed, in: application, store: store)
            return try await enter(entry, opening, by: provider, store: store)
        case .conflict(let uid, let offersMerge):
            guard let principal else { throw StoreConflict() }
            try await store.record(
                .refusal(verdict.rule, of: opening, uid: principal.uid), application: opening.application)
            guard offersMerge else { return .conflict(ticket: nil, verdict.refusal) }
            let ticket = tokens.opaque.make()
            try await store.issue(
                .merge(ticket, with: uid, by: opening, session: principal.sessionID), application: opening.application)
            return .conflict(ticket: ticket, verdict.refusal)
        case .secondProof(let uid, let subject):
            let ticket = tokens.opaque.make()
            try await store.record(
                .refusal(verdict.rule, of: opening, uid: uid), application: opening.application)
            try await store.issue(
                .secondProof(ticket, of: uid, subject: subject, by: opening), application: opening.application)
            return .secondProof(ticket: ticket, verdict.refusal)
        case .deleted(let uid, let purgeAfter, let offersRestore):
            try await store.record(.refusal(verdict.rule, of: opening, uid: uid), application: opening.application)
            let token = offersRestore ? tokens.opaque.make() : nil
            if let token {
                try await store.issue(.restore(token, of: uid, by: opening), application: opening.application)
            }
            return .deleted(
                AccountInGracePeriod(purgeAfter: purgeAfter, restoreToken: token, refusal: verdict.refusal))
        case .disabled:
            try await store.record(.refusal(verdict.rule, of: opening), application: opening.application)
            throw AccountsError.accountDisabled(verdict.refusal)
        case .refuse:
            throw AccountsError.providerDisabled(verdict.refusal)
        }
    }

    /// A proof that works once is used up by success alone.
    private func spend(_ opening: SessionOpening, store: any AccountsStore) async throws {
        guard let proof = opening.evidence.singleUse else { return }
        guard try await store.spend(proof, provider: opening.provider, application: opening.application) else {
            throw ProviderError.refused
        }
    }

    private func enter(
        _ entry: Entry, _ opening: SessionOpening, by provider: ConfiguredProvider, store: any AccountsStore
    ) async throws -> SignInOutcome {
        let opened: OpenedSession
        switch entry {
        case .known(let identity):
            opened = try await store.openSession(opening, identity: identity, password: nil)
            try await settle(opening, proven: [], identity: identity.id, uid: identity.uid, store)
        case .joining(let identity, let uid):
            let added = try await add(identity, opening, to: uid, by: provider, store: store)
            opened = try await store.openSession(opening, identity: added, password: nil)
        }
        return .opened(opened, refreshToken: opening.session.refreshToken)
    }

    /// The owner is told wherever mail reaches them.
    private func add(
        _ identity: NewIdentity, _ opening: SessionOpening, to uid: UUID, by provider: ConfiguredProvider,
        store: any AccountsStore
    ) async throws -> KnownIdentity {
        let added = try await store.add(identity, of: opening, to: uid)
        try await settle(opening, proven: identity.showing, identity: added.id, uid: uid, store)
        // Before the session is opened: the owner may read another language than whoever opens it.
        try await store.notify(
            ownerOf: uid, .identityLinked, provider: provider.displayName, application: opening.application)
        try await store.announce(
            [.identity(.identityLinked, added.id, of: uid, provider: provider.name)], application: opening.application)
        return added
    }

    /// What success leaves behind: the service's tokens are kept, and nobody else's unproven claim on an address that
    /// was proved outlives it.
    private func settle(
        _ opening: SessionOpening, proven: [Address], identity: UUID, uid: UUID, _ store: any AccountsStore
    ) async throws {
        if let tokens = opening.evidence.tokens {
            try await store.keep(tokens, of: identity, application: opening.application)
        }
        if !proven.isEmpty {
            try await store.evictUnprovenClaims(on: proven, owner: uid, application: opening.application)
        }
    }

    /// The guest's account is absorbed or erased; its bearer may repeat this call for a minute.
    private func leave(
        _ guest: Principal, for uid: UUID, isAbsorbed: Bool, in application: Application, store: any AccountsStore
    ) async throws {
        if isAbsorbed {
            _ = try await store.merge(survivor: uid, absorbed: guest.uid, in: application)
        } else {
            _ = try await store.endSessions(
                .all, of: guest.uid, because: .guestSwitched, application: application.id)
            try await store.beginDeletion(
                of: guest.uid, by: .guestSwitched, receipt: UUID(), gracePeriod: .seconds(60), in: application)
        }
        try await store.note(successor: uid, ofGuest: guest.sessionID, application: application.id)
    }

    /// A number that has a new owner leaves the account of its old one.
    ///
    /// Whoever is still signed in there goes on as a guest; an account that nobody can use any more is deleted.
    func displace(
        _ owner: AddressOwner?, in application: Application, store: any AccountsStore
    ) async throws {
        guard let owner else { return }
        guard try await store.lockAccount(owner.uid, application: application.id) == .live else {
            throw StoreConflict()
        }
        guard try await store.displace(owner, application: application.id) == .stranded else { return }
        try await store.beginDeletion(of: owner.uid, by: .displaced, receipt: UUID(), in: application)
    }
}

extension LinkingVerdict {
    var isSuccess: Bool {
        switch outcome {
        case .enter, .create, .link, .upgrade, .replaceGuest: true
        case .conflict, .secondProof, .deleted, .disabled, .refuse: false
        }
    }

    /// Carried out by a single statement, where the evidence asks for nothing beside the session.
    var isOneStatement: Bool {
        switch outcome {
        case .enter(.known), .secondProof, .deleted, .disabled, .refuse: true
        case .create(let identity): identity.claiming.isEmpty && identity.displacing == nil
        case .enter(.joining), .link, .upgrade, .replaceGuest, .conflict: false
        }
    }

    /// The account that a sign-in changes beside opening a session: the one that it joins, or that loses its number.
    var changedAccount: UUID? {
        switch outcome {
        case .enter(.joining(_, let uid)): uid
        case .create(let identity): identity.displacing?.uid
        default: nil
        }
    }
}
