internal import Accounts
internal import Foundation
internal import ProviderKit

/// The pages of an authorization request, each of which shows the step that the request is at.
///
/// The step is decided at each request of a page (`nextStep(for:)`), so that several tabs, the back button and repeated
/// forms show what is asked now. Forms call the use cases of the REST interface, by the `StepActions` of their action.
package struct RequestSteps: Sendable {
    /// The largest number of accounts that a browser is signed in to.
    private static let mostAccounts = 5

    typealias Store = AuthorizationStore & SessionEndStore

    let store: any Store
    let directory: ClientDirectory
    let questions: QuestionSteps
    let proofs: StepProofs
    let passwords: PasswordSteps
    let restoring: RestoreSteps
    let callbacks: ProviderCallbacks
    let links: LinkSteps
    let qrCodes: QRSteps
    let devices: DeviceSteps
    let opaque: any OpaqueTokens

    /// Shows the present step, or ends the request if nothing is left to ask.
    package func show(_ context: Context) async throws -> StepResponse {
        switch try await load(context) {
        case .fault(let fault): .fault(fault)
        case .over(let state): .fault(state.over)
        case .open(let state): try await settle(state, context, cookie: nil)
        }
    }

    /// Goes on with the session that a proof outside the request's pages has opened under a new cookie of the browser.
    ///
    /// A new account is not welcomed: it is a guest's, or its name and password were chosen with the registration. If the
    /// request has ended meanwhile, its page says so, but the browser has the cookie.
    func proceed(_ context: Context, as signedIn: SignedIn, under cookie: OpaqueToken) async throws -> StepResponse {
        switch try await load(context) {
        case .fault(let fault): return .fault(fault)
        case .over(let state):
            guard let now = try await reload(state, context, under: cookie) else { return .fault(.notYours) }
            try await endSuperfluous(of: now, beside: signedIn.session.grant.sessionID, after: state)
            return .reload(sessionCookie(cookie, of: now))
        case .open(let state):
            let session = signedIn.session.grant.sessionID
            guard var now = try await reload(state, context, under: cookie) else { return .fault(.notYours) }
            now.progress = RequestProgress(provenBy: session, isNewAccount: false, after: now.progress)
            return try await proceed(now, as: session, after: state, context, cookie: cookie)
        }
    }

    /// Carries out a form's action, unless the form shows another step than the present one.
    ///
    /// A refusal that the person can do something about is shown with the form. A form that has proven an account or
    /// ended the request may come again before the browser has got the answer, as after a double click; it is answered
    /// like the first time.
    package func submit(_ action: StepAction?, formToken: String, _ context: Context) async throws -> StepResponse {
        let state: RequestState
        switch try await load(context) {
        case .fault(let fault): return .fault(fault)
        case .open(let loaded), .over(let loaded): state = loaded
        }
        guard let flow = context.browser.flow.flatMap(opaque.parse) else { return .fault(.notYours) }
        let token = FormToken(opaque: opaque, flow: flow, path: context.request)
        guard token.isValid(formToken) else { return .fault(state.loaded.isOpen ? .forged : state.over) }
        var context = context
        context.form = action.map { token.mark("\(formToken)\n\($0)") }
        guard state.loaded.isOpen else {
            return try await repeated(action, formToken, of: state, context) ?? .fault(state.over)
        }
        guard case .page(let step) = state.present else { return try await settle(state, context, cookie: nil) }
        guard let action, token.isCurrent(formToken, showing: state.content(of: step)) else {
            return try await repeated(action, formToken, of: state, context) ?? .reload(nil)
        }
        do {
            let form = StepForm(step: step, action: action, token: formToken)
            guard let outcome = try await actions(for: form, on: state)?.perform(form, on: state, context) else {
                return .reload(nil)
            }
            return try await proceed(outcome, from: state, context)
        } catch let problem where problem.isForPerson {
            if let answer = try await repeated(action, formToken, of: state, context) { return answer }
            return try await show(problem, after: action, at: state, context)
        }
    }

    // MARK: - Actions

    /// The component that has the action of a form; it decides whether the form's step has the action, too.
    private func actions(for form: StepForm, on state: RequestState) -> (any StepActions)? {
        switch form.action {
        case .showQRCode, .again, .finish: qrCodes
        case .back where form.step == .qr: qrCodes
        case .code where state.isAtLink, .verify where state.isAtLink, .resend where state.isAtLink: links
        case .password, .code, .verify, .resend: proofs
        case .proceed, .allow, .deny: state.client.own == .device ? devices : questions
        case .back, .choose, .other, .forget: questions
        case .save, .skip, .sendReset: passwords
        case .restore, .leave: restoring
        case .create, .link: callbacks
        case .keep, .switchAccount, .merge: links
        }
    }

    /// Goes on after an action; `isTyped` is whether the person has typed or pressed something for it.
    func proceed(
        _ outcome: StepOutcome, from state: RequestState, isTyped: Bool = true, _ context: Context
    ) async throws -> StepResponse {
        switch outcome {
        case .progressed(var state):
            state.progress.providerError = nil
            return try await proceed(state, context, cookie: nil)
        case .changed(let state):
            _ = try await update(state, context)
            return try await show(context)
        case .proven(let signedIn, let cookie), .linked(let signedIn, let cookie):
            let session = signedIn.session.grant.sessionID
            guard var now = try await reload(state, context, under: cookie) else { return .fault(.notYours) }
            now.progress = RequestProgress(
                provenBy: session, isNewAccount: signedIn.session.isNewAccount, after: now.progress)
            now.progress.hasActed = isTyped || state.progress.hasActed
            if case .linked = outcome {
                now.progress.hasLinked = true
            } else if let joining = state.progress.joining,
                let account = now.live.first(where: { $0.session.id == session })
            {
                now.progress = try await callbacks.join(joining, to: account, under: cookie, now.progress, context)
            } else if state.progress.pending?.conflict != nil, session == state.candidate?.session.id {
                now.progress.pending = state.progress.pending
            }
            return try await proceed(now, as: session, after: state, context, cookie: cookie)
        case .borrowed(let signedIn, let cookie):
            let session = signedIn.session.grant.sessionID
            guard var now = try await reload(state, context, under: cookie) else { return .fault(.notYours) }
            now.progress = RequestProgress(borrowing: session, after: state.progress)
            return try await proceed(now, as: session, after: state, context, cookie: cookie)
        case .page(let step): return .page(try await page(step, of: state, context))
        case .refused(let error): return try await end(state, context, with: error, cookie: nil)
        case .ended(let ending?): return answer(to: ending, of: state, cookie: nil)
        case .ended(nil): return try await endedMeanwhile(context)
        case .givenUp: return .fault(state.over)
        }
    }

    /// Shows why a form was refused: with the form, or on the page of the decision that the refusal asks for.
    func show(
        _ problem: any Error, after action: StepAction?, at state: RequestState, _ context: Context
    ) async throws -> StepResponse {
        var (state, hasArrived, provider) = (state, false, state.request.linksProvider)
        if case .arrived(let callback) = state.present {
            (state, hasArrived, provider) = (state.withoutCallback, true, callback.provider)
        }
        var account: BrowserAccount?
        if case .page(let step) = state.present { account = state.account(at: step) }
        await context.recordRefusal(problem, provider, account)
        if let pending = try await proofs.decision(after: problem, to: action, of: state, context) {
            (state.progress.pending, state.progress.challenge) = (pending, nil)
            // The other proof may come from a provider's pages, without a press at these.
            if action != nil, case .secondProof = pending { state.progress.hasActed = true }
            _ = try await update(state, context)
            guard case .secondProof = pending else { return .reload(nil) }
        } else if hasArrived {
            // If another answer was quicker, its progress counts.
            guard try await update(state, context) else { return .reload(nil) }
        } else if case AccountsError.invalidToken = problem, state.progress.pending != nil {
            state.progress.pending = nil
            _ = try await update(state, context)
        } else if case AccountsError.invalidCredentials = problem, case .page(.deviceConfirm) = state.present {
            state.progress.device = nil
            _ = try await update(state, context)
        } else if state.isAtLink, problem.usesUpCode {
            state.progress.challenge = nil
            _ = try await update(state, context)
        }
        guard case .page(let present) = state.present else { return .reload(nil) }
        var page = try await page(present, of: state, context)
        (page.problem, page.refusedProvider) = (problem, provider)
        (page.typed, page.remembers) = (action?.typed, action?.remembers)
        return .page(page)
    }

    /// Goes on with the session that a proof has opened.
    func proceed(
        _ state: RequestState, as session: UUID, after former: RequestState, _ context: Context, cookie: OpaqueToken
    ) async throws -> StepResponse {
        try await endSuperfluous(of: state, beside: session, after: former)
        return try await proceed(state, context, cookie: sessionCookie(cookie, of: state))
    }

    /// Ends the session that a proof has opened if the request is for another account, unless the browser had it before
    /// the proof, and those of accounts beyond the limit of a browser.
    private func endSuperfluous(
        of state: RequestState, beside session: UUID, after former: RequestState
    ) async throws {
        let application = state.issuer.application
        let others = state.live.filter { $0.session.id != session }
        if let opened = state.live.first(where: { $0.session.id == session })?.session, state.forbids(opened),
            !former.live.contains(where: { $0.session.id == session })
        {
            _ = try await store.endSession(session, of: opened.uid, because: .signedOut, application: application.id)
        }
        for surplus in others.sorted(by: { $0.lastUsedAt > $1.lastUsedAt }).dropFirst(Self.mostAccounts - 1) {
            _ = try await store.endSession(
                surplus.session.id, of: surplus.session.uid, because: .signedOut, application: application.id)
        }
    }

    private func sessionCookie(_ cookie: OpaqueToken, of state: RequestState) -> SessionCookie {
        let isRemembered = state.live.contains(where: \.isRemembered)
        return SessionCookie(
            value: cookie.text, lifetime: isRemembered ? state.issuer.settings.browserSessions.lifetime : nil)
    }

    /// Ends the request if nothing is left to ask, and otherwise stores its progress.
    private func proceed(_ state: RequestState, _ context: Context, cookie: SessionCookie?) async throws -> StepResponse
    {
        if case .page = state.present {
            _ = try await update(state, context)
            return .reload(cookie)
        }
        return try await settle(state, context, cookie: cookie)
    }

    func update(_ state: RequestState, _ context: Context) async throws -> Bool {
        var stored = state.loaded.stored
        stored.progress = state.progress
        return try await store.update(stored, application: context.issuer.application.id)
    }
}
