package import Accounts
internal import Foundation
internal import ProviderKit

/// The pages of an authorization request, each of which shows the step that the request is at.
///
/// The step is decided at each request of a page (`nextStep(for:)`), so that several tabs, the back button and repeated
/// forms show what is asked now. Forms call the use cases of the REST interface.
package struct RequestSteps: Sendable {
    /// What a browser brings to a page.
    package struct Visit: Sendable {
        /// The request's id, which the URL contains.
        package let request: String
        package let browser: Authorization.Browser
        package let client: Client
        package let issuer: Issuer

        package init(request: String, browser: Authorization.Browser, client: Client, issuer: Issuer) {
            (self.request, self.browser, self.client, self.issuer) = (request, browser, client, issuer)
        }
    }

    /// The largest number of accounts that a browser is signed in to.
    private static let mostAccounts = 5

    typealias Store = AuthorizationStore & SessionEndStore

    let store: any Store
    let clientGrants: ClientGrants
    let proofs: StepProofs
    let opaque: any OpaqueTokens

    /// Shows the present step, or ends the request if nothing is left to ask.
    package func show(_ visit: Visit) async throws -> StepAnswer {
        switch try await load(visit) {
        case .fault(let fault): .fault(fault)
        case .over(let state): .fault(state.over)
        case .open(let state): try await settle(state, visit, cookie: nil)
        }
    }

    /// Ends the request with `access_denied`.
    package func cancel(_ visit: Visit) async throws -> StepAnswer {
        switch try await load(visit) {
        case .fault(let fault): .fault(fault)
        case .over(let state): .fault(state.over)
        case .open(let state): try await end(state, visit, with: .denied, cookie: nil)
        }
    }

    /// Carries out a form's action, unless the form shows another step than the present one.
    ///
    /// A refusal that the person can do something about is shown with the form. A form that has proven an account may
    /// come again before the browser has got the cookie, as after a double click; it is answered like the first time.
    package func submit(_ action: StepAction?, formToken: String, _ visit: Visit) async throws -> StepAnswer {
        let state: RequestState
        switch try await load(visit) {
        case .fault(let fault): return .fault(fault)
        case .open(let loaded), .over(let loaded): state = loaded
        }
        guard let flow = visit.browser.flow.flatMap(opaque.parse) else { return .fault(.notYours) }
        let token = FormToken(opaque: opaque, flow: flow, path: visit.request)
        guard token.isValid(formToken) else { return .fault(state.visit.isOpen ? .forged : state.over) }
        guard state.visit.isOpen else {
            return try await repeated(action, formToken, of: state, visit) ?? .fault(state.over)
        }
        guard case .page(let step) = state.present else { return try await settle(state, visit, cookie: nil) }
        guard let action, token.isCurrent(formToken, showing: state.content(of: step)) else {
            return try await repeated(action, formToken, of: state, visit) ?? .reload(nil)
        }
        do {
            return try await perform(action, formToken, at: step, of: state, visit)
        } catch let problem where problem.isForPerson {
            if let answer = try await repeated(action, formToken, of: state, visit) { return answer }
            var state = state
            if case AccountsError.secondProofRequired(let ticket, let refusal) = problem {
                state.progress.pending = .secondProof(ticket: ticket, rule: refusal.rule)
                state.progress.challenge = nil
                _ = try await update(state, visit)
            }
            guard case .page(let present) = state.present else { return .reload(nil) }
            var page = page(present, of: state, visit)
            page.problem = problem
            (page.identifier, page.remembers) = (action.identifier, action.remembers)
            return .page(page)
        }
    }

    // MARK: - Actions

    private func perform(
        _ action: StepAction, _ formToken: String, at step: ShownStep.Name, of state: RequestState, _ visit: Visit
    ) async throws -> StepAnswer {
        var state = state
        switch (step, action) {
        case (.signIn, .password), (.signUp, .password), (.reauthenticate, .password), (.secondProof, .password),
            (.signIn, .code), (.signUp, .code), (.reauthenticate, .code), (.secondProof, .code),
            (.code, .verify), (.code, .resend):
            let account = step == .reauthenticate ? state.account(at: step) : nil
            let outcome = try await proofs.present(
                action, of: account, progress: state.progress, formToken: formToken, visit)
            switch outcome {
            case .sent(let challenge): state.progress.challenge = challenge
            case .proven(let session, let cookie):
                guard let now = try await reload(state, visit, under: cookie) else { return .fault(.notYours) }
                return try await proceed(now, as: session, visit, cookie: cookie)
            }
        case (.code, .back): state.progress.challenge = nil
        case (.signIn, .back): (state.progress.wantsOther, state.progress.identifier) = (false, nil)
        case (.accounts, .choose(let id)): state.choose(id)
        case (.accounts, .forget(let id)):
            guard let id = id.flatMap(UUID.init), let cookie = visit.browser.sessions.flatMap(opaque.parse) else {
                break
            }
            try await store.forget(id, browser: cookie.hash, application: visit.issuer.application.id)
        case (.accounts, .other), (.reauthenticate, .other), (.confirm, .other):
            (state.progress.wantsOther, state.progress.challenge) = (true, nil)
        case (.confirm, .proceed): state.progress.hasActed = true
        case (.consent, .allow):
            guard let account = state.account(at: step) else { break }
            try await clientGrants.allow(state.request, of: account.session.uid, at: visit.issuer)
            (state.progress.consented, state.progress.hasActed) = (account.session.id, true)
        case (.consent, .deny): return try await end(state, visit, with: .denied, cookie: nil)
        default: return .reload(nil)
        }
        return try await proceed(state, visit, cookie: nil)
    }

    /// Goes on with the session that a proof has opened.
    private func proceed(
        _ state: RequestState, as session: UUID, _ visit: Visit, cookie: OpaqueToken
    ) async throws -> StepAnswer {
        let application = visit.issuer.application
        let others = state.live.filter { $0.session.id != session }
        for surplus in others.sorted(by: { $0.lastUsedAt > $1.lastUsedAt }).dropFirst(Self.mostAccounts - 1) {
            _ = try await store.endSession(
                surplus.session.id, of: surplus.session.uid, because: .signedOut, application: application.id)
        }
        let isRemembered = state.live.contains(where: \.isRemembered)
        let cookie = SessionCookie(
            value: cookie.text, lifetime: isRemembered ? visit.issuer.settings.browserSessions.lifetime : nil)
        var proven = state
        proven.progress = RequestProgress(provenBy: session)
        return try await proceed(proven, visit, cookie: cookie)
    }

    /// Answers a form again that has proven an account already; `nil` if it has not, or not lately.
    ///
    /// Only the form that has proven an account yields the cookie under which that account's session is.
    private func repeated(
        _ action: StepAction?, _ formToken: String, of state: RequestState, _ visit: Visit
    ) async throws -> StepAnswer? {
        guard let cookie = action.flatMap({ proofs.cookie(after: $0, formToken: formToken, visit) }),
            let now = try await reload(state, visit, under: cookie)
        else { return nil }
        let proven = now.live.filter { .seconds($0.session.age) <= Authorization.codeLifetime }
            .min { ($0.session.age, $1.lastUsedAt) < ($1.session.age, $0.lastUsedAt) }
        guard let proven else { return nil }
        return try await proceed(now, as: proven.session.id, visit, cookie: cookie)
    }

    /// Ends the request if nothing is left to ask, and otherwise stores its progress.
    private func proceed(_ state: RequestState, _ visit: Visit, cookie: SessionCookie?) async throws -> StepAnswer {
        if case .page = state.present {
            _ = try await update(state, visit)
            return .reload(cookie)
        }
        return try await settle(state, visit, cookie: cookie)
    }

    private func update(_ state: RequestState, _ visit: Visit) async throws -> Bool {
        var stored = state.visit.stored
        stored.progress = state.progress
        return try await store.update(stored, application: visit.issuer.application.id)
    }

    // MARK: - Ends

    /// Shows the step that a request is at, or ends the request.
    private func settle(_ state: RequestState, _ visit: Visit, cookie: SessionCookie?) async throws -> StepAnswer {
        switch state.present {
        case .page(let step): return .page(page(step, of: state, visit))
        case .refuse(let code):
            let error = OAuthError(code, "The person cannot answer the request")
            return try await end(state, visit, with: error, cookie: cookie)
        case .finish(let session):
            if state.client.own == .accountPages {
                guard try await store.end(state.visit.stored.hash, application: visit.issuer.application.id) else {
                    return .reload(cookie)
                }
                return .account(state.request.returnAddress.redirectURI, session: session.id, cookie)
            }
            let code = opaque.make()
            let new = NewCode(
                hash: code.hash, request: state.request, issuer: visit.issuer.url,
                lifetime: Authorization.codeLifetime)
            let application = visit.issuer.application.id
            var isIssued = try await store.store(
                new, of: session.id, finishing: state.visit.stored.hash, application: application)
            if !isIssued, cookie != nil {
                // The same form has finished the request, but a browser shows only the answer that it got last.
                isIssued = try await store.store(new, of: session.id, finishing: nil, application: application)
            }
            guard isIssued else { return .reload(cookie) }
            return .ended(.code(code.text, to: state.request.returnAddress), of: state.client, cookie)
        }
    }

    private func end(
        _ state: RequestState, _ visit: Visit, with error: OAuthError, cookie: SessionCookie?
    ) async throws -> StepAnswer {
        let isEnded = try await store.end(state.visit.stored.hash, application: visit.issuer.application.id)
        guard isEnded || cookie != nil else { return .reload(nil) }
        return .ended(.error(error, to: state.request.returnAddress), of: state.client, cookie)
    }

    // MARK: - State

    private enum Loaded { case open(RequestState), over(RequestState), fault(StepFault) }

    private func load(_ visit: Visit) async throws -> Loaded {
        guard let id = opaque.parse(visit.request), let flow = visit.browser.flow.flatMap(opaque.parse),
            let stored = try await store.visit(
                id.hash, browser: flow.hash, sessions: visit.browser.sessions.flatMap(opaque.parse)?.hash,
                application: visit.issuer.application.id),
            stored.stored.issuer.hasSameBytes(as: visit.issuer.url),
            let client = visit.issuer.client(of: stored.stored.request)
        else { return .fault(.notYours) }
        let state = state(of: stored, of: client, at: visit.issuer)
        return stored.isOpen ? .open(state) : .over(state)
    }

    /// The request as it is now, with the accounts that the browser has under a new cookie.
    private func reload(
        _ state: RequestState, _ visit: Visit, under cookie: OpaqueToken
    ) async throws -> RequestState? {
        guard let flow = state.visit.stored.browser else { return nil }
        let now = try await store.visit(
            state.visit.stored.hash, browser: flow, sessions: cookie.hash, application: visit.issuer.application.id)
        return now.map { self.state(of: $0, of: state.client, at: visit.issuer) }
    }

    private func state(of visit: RequestVisit, of client: OAuthClient, at issuer: Issuer) -> RequestState {
        RequestState(visit, of: client) { issuer.subject(of: $0, for: client, by: opaque) }
    }

    private func page(_ step: ShownStep.Name, of state: RequestState, _ visit: Visit) -> ShownStep {
        let flow = visit.browser.flow.flatMap(opaque.parse) ?? opaque.make()
        let token = FormToken(opaque: opaque, flow: flow, path: visit.request)
        return ShownStep(
            name: step, request: state.request, client: state.client, accounts: state.visit.accounts,
            account: state.account(at: step), progress: state.progress,
            formToken: token.text(showing: state.content(of: step)))
    }
}

extension OAuthError {
    fileprivate static let denied = OAuthError(.accessDenied, "The person has not allowed it")
}

extension Error {
    /// Whether a person who has sent a form can do something about the error, so that the form is shown with it.
    fileprivate var isForPerson: Bool {
        switch self {
        case let error as AccountsError: if case .unreadableSecret = error { false } else { true }
        case let error as ProviderError: if case .unavailable = error { false } else { true }
        default: false
        }
    }
}
