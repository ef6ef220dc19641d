internal import Accounts
internal import Foundation
internal import ProviderKit

/// How requests end.
extension RequestSteps {
    /// Ends the request with `access_denied`, at a link of its pages.
    ///
    /// A person who is signed in, and has been shown a device, refuses it.
    package func cancel(_ context: Context) async throws -> StepResponse {
        var context = context
        context.form = "cancel"
        switch try await load(context) {
        case .fault(let fault): return .fault(fault)
        case .over(let state): return try await endedAgain(state, context, cookie: nil) ?? .fault(state.over)
        case .open(let state):
            guard case .page(.deviceConfirm) = state.present,
                let refused = try await devices.refuse(state, context)
            else { return try await end(state, context, with: .denied, cookie: nil) }
            return try await proceed(refused, from: state, context)
        }
    }

    /// Shows the step that a request is at, or ends the request.
    func settle(_ state: RequestState, _ context: Context, cookie: SessionCookie?) async throws -> StepResponse {
        switch state.present {
        case .page(let step): return .page(try await page(step, of: state, context))
        case .arrived(let callback): return try await use(callback, of: state, context)
        case .refuse(let code):
            return try await end(state, context, with: OAuthError(refusing: code), cookie: cookie)
        case .finish(let session): return try await finish(state, context, as: session, cookie: cookie)
        }
    }

    private func finish(
        _ state: RequestState, _ context: Context, as session: BrowserSession, cookie: SessionCookie?
    ) async throws -> StepResponse {
        if state.client.own == .accountPages { return try await end(state, context, for: session, cookie: cookie) }
        let code = code(after: context, cookie: cookie)
        let isIssued = try await store.issue(
            code, for: state.request, of: session.id, finishing: state.loaded.stored.hash, at: state.issuer, by: opaque)
        guard isIssued else { return try await endedAgain(state, context, cookie: cookie) ?? .reload(cookie) }
        return .ended(.code(code.text, to: state.request.returnAddress), of: state.client, at: state.issuer, cookie)
    }

    /// The code that a request ends with.
    ///
    /// A form that is sent twice leads to the same code, as to the same cookie. It is unpredictable without the key of
    /// the server.
    private func code(after context: Context, cookie: SessionCookie?) -> OpaqueToken {
        guard let cause = cookie?.value ?? context.form else { return opaque.make() }
        let value = opaque.pseudonym(of: "\(context.request)\n\(cause)", purpose: "code after a form")
        return opaque.parse(Digest.base64URL(value)) ?? opaque.make()
    }

    func end(
        _ state: RequestState, _ context: Context, with error: OAuthError, cookie: SessionCookie?
    ) async throws -> StepResponse {
        try await end(state, context, for: nil, with: error, cookie: cookie)
    }

    /// Ends a request without a code, and notes the answer for a repetition of the form.
    private func end(
        _ state: RequestState, _ context: Context, for session: BrowserSession?, with error: OAuthError = .denied,
        cookie: SessionCookie?
    ) async throws -> StepResponse {
        var stored = state.loaded.stored
        let ending = RequestEnding(form: context.form, session: session?.id, error: error)
        stored.progress.ending = ending
        let isEnded = try await store.end(stored, application: context.issuer.application.id)
        guard isEnded || cookie != nil else { return try await endedMeanwhile(context) }
        return answer(to: ending, of: state, cookie: cookie)
    }

    /// The answer to a form whose request another call has ended.
    func endedMeanwhile(_ context: Context) async throws -> StepResponse {
        guard case .over(let now) = try await load(context) else { return .reload(nil) }
        return try await endedAgain(now, context, cookie: nil) ?? .reload(nil)
    }

    func answer(to ending: RequestEnding, of state: RequestState, cookie: SessionCookie?) -> StepResponse {
        let address = state.request.returnAddress
        if state.client.own == .device { return .device(isAllowed: ending.session != nil) }
        if state.client.own == .accountPages {
            guard ending.session != nil || !state.live.isEmpty else { return .left }
            return .account(address.redirectURI, session: ending.session, cookie)
        }
        return .ended(.error(ending.error, to: address), of: state.client, at: state.issuer, cookie)
    }

    // MARK: - Forms that are sent twice

    /// Answers a form again that has ended the request, because a browser shows only the answer that it got last;
    /// `nil` if the request has ended otherwise, or if its code was redeemed or has expired.
    func endedAgain(_ state: RequestState, _ context: Context, cookie: SessionCookie?) async throws -> StepResponse? {
        if let ending = state.progress.ending {
            guard let form = context.form, ending.form == form else { return nil }
            return answer(to: ending, of: state, cookie: cookie)
        }
        guard cookie != nil || context.form != nil,
            let browser = (cookie?.value ?? context.browser.sessions).flatMap(opaque.parse)
        else { return nil }
        let code = code(after: context, cookie: cookie)
        guard try await store.hasCode(code.hash, browser: browser.hash, application: context.issuer.application.id)
        else { return nil }
        return .ended(.code(code.text, to: state.request.returnAddress), of: state.client, at: state.issuer, cookie)
    }
}

extension OAuthError {
    static let denied = OAuthError(.accessDenied, "The person has not allowed it")
}
