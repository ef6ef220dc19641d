internal import Accounts
internal import Foundation
internal import ProviderKit

/// The proofs that the pages accept, by the use cases and the rate limits of the REST interface.
struct StepProofs: Sendable {
    enum Outcome {
        case sent(SentChallenge)
        /// A session of the browser was opened or proven, and all are kept under a new cookie.
        case proven(session: UUID, cookie: OpaqueToken)
    }

    let signIn: ProofSignIn
    let codes: OneTimeCodes
    let limits: any RateLimiting
    let opaque: any OpaqueTokens

    /// Carries out an action that types a password, asks for a code, or types one.
    ///
    /// If the account is known, its own address is used and the typed one ignored.
    func present(
        _ action: StepAction, of account: BrowserAccount?, progress: RequestProgress, formToken: String,
        _ visit: RequestSteps.Visit
    ) async throws -> Outcome {
        let cookie = cookie(after: action, formToken: formToken, visit) ?? opaque.make()
        switch action {
        case .password(let identifier, let password, let remember):
            try await limits.spend(.login, of: RateSubject(visit.client), in: visit.issuer.application)
            let typed = try TypedPassword(email: account?.passwordAddress ?? identifier, password: password)
            return try await prove(progress.pending?.ticket, under: cookie, remember: remember, visit) {
                ticket, client in
                try await signIn.signIn(
                    with: typed, ticket: ticket, from: client, in: visit.issuer.application)
            }
        case .code(let identifier, let remember):
            guard let identifier = account?.address ?? identifier else {
                throw AccountsError.missingParameter("identifier")
            }
            return .sent(try await send(to: identifier, remember: remember, visit))
        case .resend:
            guard let sent = progress.challenge else { throw AccountsError.missingParameter("identifier") }
            return .sent(try await send(to: sent.identifier, remember: sent.remember, visit))
        case .verify(let code):
            guard let sent = progress.challenge, let code else { throw AccountsError.missingParameter("code") }
            let route = "POST /api/v1/auth/\(sent.kind)/otp/verify"
            try await limits.spend(.general, of: RateSubject(visit.client, route: route), in: visit.issuer.application)
            let presented = PresentedOneTimeCode(challengeID: sent.id, code: code)
            return try await prove(progress.pending?.ticket, under: cookie, remember: sent.remember, visit) {
                ticket, client in
                try await signIn.signIn(
                    with: presented, ofKind: sent.kind, named: sent.provider, ticket: ticket, by: nil, from: client,
                    in: visit.issuer.application)
            }
        default: throw AccountsError.missingParameter("action")
        }
    }

    /// The browser's cookie after an action that proves an account; `nil` for other actions.
    ///
    /// A form that is sent twice gives the browser the same cookie twice. Each time that a form is shown, each former
    /// cookie and each typed secret gives another, and all are unpredictable without the key of the server.
    func cookie(after action: StepAction, formToken: String, _ visit: RequestSteps.Visit) -> OpaqueToken? {
        guard let proof = action.proof else { return nil }
        let former = visit.browser.sessions.flatMap(opaque.parse)?.text ?? ""
        let value = opaque.pseudonym(of: "\(formToken)\n\(former)\n\(proof)", purpose: "cookie after a form")
        return opaque.parse(Digest.base64URL(value))
    }

    /// Sends a code by the provider of the address's kind.
    private func send(
        to identifier: String, remember: Bool, _ visit: RequestSteps.Visit
    ) async throws -> SentChallenge {
        let application = visit.issuer.application
        try await limits.spend(.otpClient, of: RateSubject(visit.client), in: application)
        let kind = identifier.contains("@") ? Address.Kind.email : .phone
        guard let provider = application.providers.challengeProvider(for: kind) else {
            throw ProviderError.malformed(field: "identifier", reason: "is no address that a code can be sent to")
        }
        let sent = try await codes.begin(
            identifier, ofKind: provider.kind, named: provider.name, by: nil, from: visit.client, in: application)
        return SentChallenge(
            id: sent.id.text, kind: provider.kind, provider: provider.name, identifier: identifier,
            remember: remember)
    }

    /// Signs in under a new cookie of the browser, with the ticket of an earlier refusal if it has not expired.
    private func prove(
        _ ticket: String?, under cookie: OpaqueToken, remember: Bool, _ visit: RequestSteps.Visit,
        by signIn: (_ ticket: String?, _ client: Client) async throws -> SignedIn
    ) async throws -> Outcome {
        let settings = visit.issuer.settings.browserSessions
        let isRemembered =
            switch settings.remember {
            case .ask: remember
            case .always: true
            case .never: false
            }
        var client = visit.client
        client.cookie = BrowserCookie(
            hash: cookie.hash, replacing: visit.browser.sessions.flatMap(opaque.parse)?.hash,
            session: .v8(of: opaque.pseudonym(of: cookie.text, purpose: "session of a cookie")),
            lifetime: settings.lifetime, idle: isRemembered ? nil : settings.idle)
        let signedIn: SignedIn
        do {
            signedIn = try await signIn(ticket, client)
        } catch AccountsError.invalidToken where ticket != nil {
            signedIn = try await signIn(nil, client)
        }
        return .proven(session: signedIn.session.grant.sessionID, cookie: cookie)
    }
}

extension RequestProgress {
    /// The progress of a request right after a proof.
    init(provenBy session: UUID) {
        self.init()
        (self.session, proven, hasActed) = (session, session, true)
    }
}
