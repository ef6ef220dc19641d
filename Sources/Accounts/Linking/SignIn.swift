internal import Foundation
package import ProviderKit

/// Turns evidence into a session: load, decide, write; again where the rows moved on in between.
package struct SignIn: Sendable {
    private let store: any AccountsStore
    private let tokens: SessionTokens

    package init(store: any AccountsStore, tokens: SessionTokens) {
        self.store = store
        self.tokens = tokens
    }

    package func signIn(
        with evidence: VerifiedIdentity, of provider: ConfiguredProvider, from client: Client,
        in application: Application
    ) async throws -> SignedIn {
        // A provider's promise; an outsider's text may be behind it.
        guard (1...255).contains(evidence.providerUid.utf8.count) else { throw ProviderError.refused }
        let session = tokens.newSession(methods: evidence.methods, client: client, in: application)
        let outcome = try await decidingAgain {
            try await open(session, with: evidence, of: provider, in: application, store: store)
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
        return try await carryOut(verdict, opening, store: store)
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
        _ verdict: LinkingVerdict, _ opening: SessionOpening, store: any AccountsStore
    ) async throws -> SignInOutcome {
        switch verdict {
        case .signIn(let identity):
            return .opened(try await store.openSession(opening, identity: identity, password: nil))
        case .join(let uid, let addresses):
            return .opened(try await store.join(opening, to: uid, claiming: addresses))
        case .create(let addresses):
            return .opened(try await store.createAccount(opening, claiming: addresses))
        case .deleted(let uid, let purgeAfter):
            let token = tokens.opaque.make()
            try await store.issue(.restore(token, of: uid, by: opening), application: opening.application)
            return .deleted(RestoreOffer(purgeAfter: purgeAfter, token: token))
        case .disabled:
            throw AccountsError.accountDisabled
        case .refuse(let refusal):
            throw AccountsError.providerDisabled(refusal)
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
