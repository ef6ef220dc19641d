internal import Foundation
internal import ProviderKit

/// The parameters with which an app redeems the code of its flow (RFC 6749, 4.1.3; RFC 7636, 4.5).
package struct PresentedCode: Sendable {
    package let code: String
    package let state: String?
    /// The redirect URIs that the app takes for that of its flow; more than one only where it rewrites them.
    package let redirectURIs: [String]
    package let codeVerifier: String?
    /// Whether a page of the server's own presents the code, which therefore never leaves the server.
    let isOfPage: Bool

    package init(code: String, state: String?, redirectURI: String, codeVerifier: String?) {
        self.init(code: code, state: state, redirectURIs: [redirectURI], codeVerifier: codeVerifier)
    }

    package init(code: String, state: String?, redirectURIs: [String], codeVerifier: String?) {
        (self.code, self.state, self.redirectURIs, self.codeVerifier) = (code, state, redirectURIs, codeVerifier)
        isOfPage = false
    }

    /// Creates the presentation of a code by the page of the authorization request with this id.
    package init(code: String, state: String, atPageOf request: String) {
        (self.code, self.state, redirectURIs) = (code, state, [FlowDestination.pagePath(of: request)])
        (codeVerifier, isOfPage) = (nil, true)
    }

    /// Checks that the code is presented by the app that began the flow.
    /// - Throws: `AccountsError.invalidState`, `.invalidToken`.
    func check(against destination: FlowDestination) throws {
        if let state, !state.hasSameBytes(as: destination.appState) { throw AccountsError.invalidState }
        guard redirectURIs.contains(where: { $0.hasSameBytes(as: destination.redirectURI) }) else {
            throw AccountsError.invalidToken
        }
        guard let challenge = destination.codeChallenge else {
            // A verifier without a challenge must be rejected, to prevent PKCE downgrade attacks (RFC 9700, 4.8.2).
            guard codeVerifier == nil else { throw AccountsError.invalidToken }
            guard state != nil else { throw AccountsError.missingParameter("state") }
            return
        }
        guard let codeVerifier else { throw AccountsError.missingParameter("codeVerifier") }
        guard (43...128).contains(codeVerifier.utf8.count),
            ConstantTime.areEqual(CodeChallenge.s256(of: codeVerifier).utf8, challenge.utf8)
        else { throw AccountsError.invalidToken }
    }
}

extension Client {
    /// The client with the kind of session that the app asked for when it began the flow, or asks for now.
    func opening(_ destination: FlowDestination) -> Client {
        var client = self
        client.opensShortSession = opensShortSession || destination.opensShortSession
        return client
    }
}

/// Exchanges a redirect flow's code for a session, and applies the linking rules then, not at the provider's callback.
package struct CodeRedemption: Sendable {
    /// How long a second presentation of a code counts as a duplicate request; later it counts as theft of the code.
    private static let tolerance: Duration = .seconds(2)

    typealias AcceptingStore = FlowCodeStore & SessionEndStore & SingleUseStore
    typealias Store = AcceptingStore & SignIn.Store

    let store: any TransactionalStore & Store
    let signIn: SignIn
    let tokens: SessionTokens

    /// Consumes the code, even if the sign-in is refused, and signs in.
    ///
    /// Without `mayOpenAccount`, the code of an identity without an account remains valid.
    /// - Throws: `AccountsError.invalidToken`, `.invalidState`, and the errors of a sign-in; `UnknownIdentity`.
    package func redeem(
        _ presented: PresentedCode, mayOpenAccount: Bool = true, from client: Client, in application: Application
    ) async throws -> SignedIn {
        let outcome = try await store.retryingTransactionKeepingRefusals { store in
            let flow = try await accept(presented, for: .signIn, in: application, store: store)
            let provider = try application.providers.named(flow.provider)
            var session = tokens.newSession(
                by: flow.evidence, of: provider.name, from: client.opening(flow.destination), in: application)
            session.mayOpenAccount = mayOpenAccount
            if let source = flow.source {
                // The locks are kept until the new session is open, so that a password reset ends both.
                guard try await store.lockAccount(source.uid, application: application.id) == .live,
                    try await store.lockSession(source.session, of: source.uid, application: application.id)
                else { throw AccountsError.invalidToken }
                // The identity may have moved to another account since it opened the browser's session.
                let decision = try await signIn.decision(
                    on: session.evidence, of: provider, in: application, store: store)
                guard case .signIn(let identity) = decision.verdict.outcome, identity.uid == source.uid else {
                    throw AccountsError.invalidToken
                }
                (session.authenticatedAt, session.provesIdentity) = (flow.evidence.authenticatedAt, false)
            }
            var outcome = try await signIn.open(session, of: provider, store: store)
            if flow.source?.isBorrowed == true, case .opened(var opened, let secret) = outcome {
                try await store.borrow(session: opened.grant.sessionID, application: application.id)
                opened.grant.isBorrowed = true
                outcome = .opened(opened, secret: secret)
            }
            try await note(outcome, of: .redirectCode(presented), in: application, store: store)
            return outcome
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Notes which session the code of a redirect flow has opened, so that a late replay of the code ends it.
    ///
    /// A browser that has a session of the account keeps it, so the id may differ from the one that was asked for.
    func note(
        _ outcome: SignInOutcome, of proof: PresentedProof, in application: Application, store: any AcceptingStore
    ) async throws {
        guard case .redirectCode(let presented) = proof, case .opened(let opened, _) = outcome,
            let code = tokens.opaque.parse(presented.code)
        else { return }
        try await store.note(session: opened.grant.sessionID, openedBy: code.hash, application: application.id)
    }

    /// Consumes the code and its evidence, and returns the flow.
    ///
    /// The evidence is consumed here because a refusal is committed too, so it must precede all other writes.
    /// - Throws: `AccountsError.invalidToken`, `.invalidState`; the transaction must commit the consumed code.
    func accept(
        _ presented: PresentedCode, for use: FlowUse, in application: Application, store: any AcceptingStore
    ) async throws -> RedeemedFlow {
        guard let code = tokens.opaque.parse(presented.code) else { throw AccountsError.invalidToken }
        // A code that never leaves the server cannot be stolen, so a second presentation is the same form again.
        let tolerance = presented.isOfPage ? .seconds(86400) : Self.tolerance
        let presentation = try await store.redeem(
            code: code.hash, for: use, tolerance: tolerance, application: application.id)
        switch presentation {
        case .redeemed(var flow):
            try presented.check(against: flow.destination)
            var proof = flow.evidence.singleUse
            if case .reauthentication = use { proof = proof ?? flow.evidence.singleReauthentication }
            if let proof {
                guard try await store.spend(proof, provider: flow.provider, application: application.id) else {
                    throw AccountsError.invalidToken
                }
            }
            // The code is consumed, so this evidence can't be presented again.
            (flow.evidence.singleUse, flow.evidence.singleReauthentication) = (nil, nil)
            return flow
        case .replayed(let session, let uid):
            try await store.endSessions(.one(session), of: uid, because: .codeReplayed, application: application.id)
            throw AccountsError.invalidToken
        case .refused: throw AccountsError.invalidToken
        }
    }
}
