internal import Accounts
internal import Foundation
internal import ProviderKit

/// The proofs that the pages accept, by the use cases and the rate limits of the REST interface.
struct StepProofs: StepActions {
    let signIn: ProofSignIn
    let codes: OneTimeCodes
    let limits: any RateLimiting
    let opaque: any OpaqueTokens

    /// Carries out an action that types a password, asks for a code, or types one.
    ///
    /// If the account is known, its own address is used and the typed one ignored.
    func perform(_ form: StepForm, on state: RequestState, _ context: RequestSteps.Context) async throws -> StepOutcome?
    {
        let application = context.issuer.application
        let account = form.step == .reauthenticate ? state.account(at: form.step) : nil
        switch (form.step, form.action) {
        case (.signIn, .password(let identifier, let password, let remember)),
            (.reauthenticate, .password(let identifier, let password, let remember)),
            (.secondProof, .password(let identifier, let password, let remember)):
            try await limits.spend(.login, of: RateSubject(context.client), in: application)
            let typed = try TypedPassword(email: account?.passwordAddress ?? identifier, password: password)
            return try await prove(form, on: state, remember: remember, context) { ticket, client in
                try await signIn.signIn(with: typed, ticket: ticket, from: client, in: application)
            }
        case (.code, .verify(let code)):
            guard let sent = state.progress.challenge, let code else { throw AccountsError.missingParameter("code") }
            try await limits.spend(asCallOf: "POST /api/v1/auth/\(sent.kind)/otp/verify", context)
            let presented = PresentedOneTimeCode(challengeID: sent.id, code: code)
            do {
                return try await prove(form, on: state, remember: sent.remember, context) { ticket, client in
                    try await signIn.signIn(
                        with: presented, ofKind: sent.kind, named: sent.provider, mayOpenAccount: state.opensAccounts,
                        ticket: ticket, by: nil, from: client, in: application)
                }
            } catch is UnknownIdentity {
                // The same end as that of a proof of another account.
                guard state.requiredSubject == nil else { return .refused(OAuthError(refusing: .accessDenied)) }
                throw AccountsError.invalidCredentials
            }
        case (.signIn, .code(let identifier, let remember)), (.signUp, .code(let identifier, let remember)),
            (.reauthenticate, .code(let identifier, let remember)),
            (.secondProof, .code(let identifier, let remember)):
            guard let identifier = account?.address ?? identifier else {
                throw AccountsError.missingParameter("identifier")
            }
            return try await send(to: identifier, remember: remember, state, context)
        case (.code, .resend):
            guard let sent = state.progress.challenge else { throw AccountsError.missingParameter("identifier") }
            return try await send(to: sent.identifier, remember: sent.remember, state, context)
        default: return nil
        }
    }

    /// Sends a code by the provider of the address's kind.
    private func send(
        to identifier: String, remember: Bool, _ state: RequestState, _ context: RequestSteps.Context
    ) async throws -> StepOutcome {
        let application = context.issuer.application
        try await limits.spend(.otpClient, of: RateSubject(context.client), in: application)
        let kind = identifier.utf8.contains(UInt8(ascii: "@")) ? Address.Kind.email : .phone
        guard let provider = application.providers.challengeProvider(for: kind) else {
            throw ProviderError.malformed(
                field: "identifier", reason: "must be an address to which the application sends codes")
        }
        let sent = try await codes.begin(
            identifier, ofKind: provider.kind, named: provider.name, by: nil, from: context.client, in: application)
        var state = state
        state.progress.challenge = SentChallenge(
            id: sent.id.text, kind: provider.kind, provider: provider.name, identifier: identifier,
            remember: remember)
        return .progressed(state)
    }

    /// Signs in under a new cookie of the browser, with the ticket of an earlier refusal if it has not expired.
    private func prove(
        _ form: StepForm, on state: RequestState, remember: Bool, _ context: RequestSteps.Context,
        by signIn: (_ ticket: String?, _ client: Client) async throws -> SignedIn
    ) async throws -> StepOutcome {
        try await prove(
            under: cookie(after: form.action, formToken: form.token, context), on: state, remember: remember, context,
            by: signIn)
    }

    func prove(
        under cookie: OpaqueToken, on state: RequestState, remember: Bool, _ context: RequestSteps.Context,
        by signIn: (_ ticket: String?, _ client: Client) async throws -> SignedIn
    ) async throws -> StepOutcome {
        let ticket = state.progress.pending?.ticket
        let client = client(under: cookie, remember: remember, context)
        do {
            return .proven(try await signIn(ticket, client), under: cookie)
        } catch AccountsError.invalidToken where ticket != nil {
            return .proven(try await signIn(nil, client), under: cookie)
        }
    }
}

// MARK: - Refusals

extension StepProofs {
    /// What the person decides after a proof was refused; `nil` if there is nothing to decide.
    func decision(
        after problem: any Error, to action: StepAction?, of state: RequestState, _ context: RequestSteps.Context
    ) async throws -> PendingDecision? {
        switch problem {
        case AccountsError.identityInUse(let ticket, let refusal):
            let provider = state.request.linksProvider ?? state.progress.joining?.provider ?? ""
            return .conflict(LinkConflict(provider: provider, rule: refusal.rule, ticket: ticket))
        // A sign-in to the other account would not link its identity, so none is offered.
        case _ where state.isAtLink: return nil
        case AccountsError.secondProofRequired(let ticket, let refusal):
            let ways = try await signIn.ways(with: ticket, in: context.issuer.application)
            return .secondProof(ticket: ticket, rule: refusal.rule, ways: ways)
        case AccountsError.accountDeleted(let purgeAfter, let token?, _):
            let remember = action?.remembers ?? state.progress.challenge?.remember ?? false
            return .restore(token: token, purgeAfter: purgeAfter, remember: remember)
        default: return nil
        }
    }
}

// MARK: - The cookie

extension StepProofs {
    /// The browser's cookie after a form that opens or proves a session.
    ///
    /// A form that is sent twice gives the browser the same cookie twice. Each time that a form is shown, each former
    /// cookie and each typed secret gives another, and all are unpredictable without the key of the server.
    func cookie(after action: StepAction, formToken: String, _ context: RequestSteps.Context) -> OpaqueToken {
        guard let proof = action.proof else { return opaque.make() }
        return cookie(after: proof, in: formToken, context)
    }

    /// The browser's cookie after a proof from a provider's pages, by the proof's single-use code.
    func cookie(after callback: ProviderCallback, _ context: RequestSteps.Context) -> OpaqueToken {
        callback.code.map { cookie(after: $0, in: context.request, context) } ?? opaque.make()
    }

    private func cookie(after proof: String, in form: String, _ context: RequestSteps.Context) -> OpaqueToken {
        let former = context.browser.sessions.flatMap(opaque.parse)?.text ?? ""
        let value = opaque.pseudonym(of: "\(form)\n\(former)\n\(proof)", purpose: "cookie after a form")
        return opaque.parse(Digest.base64URL(value)) ?? opaque.make()
    }

    /// The client of a use case whose session the browser keeps under a cookie.
    ///
    /// `remember` is what the person has chosen, if the application lets people choose.
    func client(under cookie: OpaqueToken, remember: Bool, _ context: RequestSteps.Context) -> Client {
        let settings = context.issuer.settings.browserSessions
        let isRemembered =
            switch settings.remember {
            case .ask: remember
            case .always: true
            case .never: false
            }
        var client = context.client
        client.cookie = BrowserCookie(
            hash: cookie.hash, replacing: context.browser.sessions.flatMap(opaque.parse)?.hash,
            session: .v8(of: opaque.pseudonym(of: cookie.text, purpose: "session of a cookie")),
            lifetime: settings.lifetime, idle: isRemembered ? nil : settings.idle)
        return client
    }
}
