internal import Foundation
package import ProviderKit

/// Turns evidence into a session: load, decide, write; again where the rows moved on in between.
package struct SignIn: Sendable {
    private let store: any TransactionalStore
    private let tokens: SessionTokens

    package init(store: any TransactionalStore, tokens: SessionTokens) {
        self.store = store
        self.tokens = tokens
    }

    package func signIn(
        with evidence: VerifiedIdentity, of provider: ConfiguredProvider, from client: Client,
        in application: Application
    ) async throws -> SignedIn {
        let session = tokens.newSession(methods: evidence.methods, client: client, in: application)
        let opening = SessionOpening(
            session: session, evidence: try evidence.checked(), provider: provider.name, application: application.id)
        let outcome = try await decidingAgain {
            let verdict = try await verdict(on: evidence, of: provider, in: application, store: store)
            // One statement needs no transaction, and most sign-ins are one.
            guard !verdict.isOneStatement || evidence.writesBesideSession else {
                return try await carryOut(verdict, opening, by: provider, store: store)
            }
            return try await store.transaction { try await carryOut(verdict, opening, by: provider, store: $0) }
        }
        return try await finish(outcome, session: session, in: application)
    }

    /// The same inside a transaction of the caller's; a conflict there is the whole transaction's.
    func open(
        _ session: NewSession, with evidence: VerifiedIdentity, of provider: ConfiguredProvider,
        in application: Application, store: any AccountsStore
    ) async throws -> SignInOutcome {
        let verdict = try await verdict(on: evidence, of: provider, in: application, store: store)
        let opening = SessionOpening(
            session: session, evidence: evidence, provider: provider.name, application: application.id)
        return try await carryOut(verdict, opening, by: provider, store: store)
    }

    func verdict(
        on evidence: VerifiedIdentity, of provider: ConfiguredProvider, in application: Application,
        store: any AccountsStore
    ) async throws -> LinkingVerdict {
        // A guest's subject was drawn a moment ago: there is nothing to look up.
        let state =
            evidence.isGuest
            ? LinkingState()
            : try await store.linkingState(for: evidence, provider: provider.name, application: application.id)
        let policy = LinkingPolicy(mode: provider.mode, automatic: application.policy.automaticLinking)
        return decide(evidence, state: state, policy: policy)
    }

    func carryOut(
        _ verdict: LinkingVerdict, _ opening: SessionOpening, by provider: ConfiguredProvider,
        store: any AccountsStore
    ) async throws -> SignInOutcome {
        let opened: OpenedSession
        if verdict.isSuccess { try await spend(opening, store: store) }
        switch verdict {
        case .signIn(let identity):
            opened = try await store.openSession(opening, identity: identity, password: nil)
        case .join(let uid, let addresses):
            // First, since the owner may read another language than whoever has just signed in.
            try await store.notify(
                ownerOf: uid, .identityLinked, provider: provider.displayName, application: opening.application)
            opened = try await store.join(opening, to: uid, claiming: addresses)
            try await store.announce(
                [.identity(.identityLinked, opened.identityID, of: uid, provider: provider)],
                application: opening.application)
        case .create(let addresses):
            opened = try await store.createAccount(opening, claiming: addresses)
        case .deleted(let uid, let purgeAfter):
            let token = tokens.opaque.make()
            try await store.issue(.restore(token, of: uid, by: opening), application: opening.application)
            return .deleted(RestoreOffer(purgeAfter: purgeAfter, token: token))
        case .disabled:
            throw AccountsError.accountDisabled
        case .refuse(let refusal):
            throw AccountsError.providerDisabled(refusal)
        }
        try await settle(opening, claims: verdict.claims(of: opening.evidence), opened: opened, store: store)
        return .opened(opened)
    }

    /// A proof that works once is used up by success alone.
    private func spend(_ opening: SessionOpening, store: any AccountsStore) async throws {
        guard let proof = opening.evidence.singleUse else { return }
        guard try await store.spend(proof, provider: opening.provider, application: opening.application) else {
            throw ProviderError.refused
        }
    }

    /// What success leaves behind: the service's tokens are kept, and nobody else's unproven claim on an address that
    /// was proved outlives it.
    private func settle(
        _ opening: SessionOpening, claims: [Address], opened: OpenedSession, store: any AccountsStore
    ) async throws {
        let (evidence, application) = (opening.evidence, opening.application)
        if let tokens = evidence.tokens {
            try await store.keep(tokens, of: opened.identityID, application: application)
        }
        if !claims.isEmpty {
            try await store.evictUnprovenClaims(on: claims, owner: opened.user.uid, application: application)
        }
    }

    func finish(
        _ outcome: SignInOutcome, session: NewSession, in application: Application
    ) async throws -> SignedIn {
        switch outcome {
        case .opened(let opened):
            return try await tokens.signedIn(opened, refreshToken: session.refreshToken, in: application)
        case .deleted(let offer):
            throw AccountsError.accountDeleted(purgeAfter: offer.purgeAfter, restoreToken: offer.token.text)
        }
    }
}

/// What became of evidence that was not refused.
enum SignInOutcome: Sendable {
    case opened(OpenedSession)
    case deleted(RestoreOffer)
}

/// The way back into an account in its grace period, for whoever has just proven to be its owner.
struct RestoreOffer: Sendable {
    let purgeAfter: Date
    let token: OpaqueToken
}

extension LinkingVerdict {
    var isSuccess: Bool {
        switch self {
        case .signIn, .join, .create: true
        case .deleted, .disabled, .refuse: false
        }
    }

    fileprivate var isOneStatement: Bool {
        switch self {
        case .join: false
        case .create(let addresses): addresses.isEmpty
        case .signIn, .deleted, .disabled, .refuse: true
        }
    }

    /// The addresses that carrying it out makes, or finds, the account's own by this proof.
    func claims(of evidence: VerifiedIdentity) -> [Address] {
        switch self {
        case .create(let addresses): addresses
        case .join: evidence.proven
        case .signIn, .deleted, .disabled, .refuse: []
        }
    }
}
