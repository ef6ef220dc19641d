internal import Accounts
internal import ProviderKit

/// How requests end.
extension RequestSteps {
    /// Shows the step that a request is at, or ends the request.
    func settle(_ state: RequestState, _ visit: Visit, cookie: SessionCookie?) async throws -> StepAnswer {
        switch state.present {
        case .page(let step): return .page(try await page(step, of: state, visit))
        case .arrived(let arrival): return try await use(arrival, of: state, visit)
        case .refuse(let code):
            let error = OAuthError(code, "The person cannot answer the request")
            return try await end(state, visit, with: error, cookie: cookie)
        case .finish(let session): return try await finish(state, visit, as: session, cookie: cookie)
        }
    }

    private func finish(
        _ state: RequestState, _ visit: Visit, as session: BrowserSession, cookie: SessionCookie?
    ) async throws -> StepAnswer {
        let (application, hash) = (visit.issuer.application.id, state.visit.stored.hash)
        if state.client.own == .accountPages {
            guard try await store.end(hash, application: application) || cookie != nil else { return .reload(nil) }
            return .account(state.request.returnAddress.redirectURI, session: session.id, cookie)
        }
        var code = try await store.issueCode(
            for: state.request, of: session.id, finishing: hash, at: visit.issuer, by: opaque)
        if code == nil, cookie != nil {
            // The same form has finished the request, but a browser shows only the answer that it got last.
            code = try await store.issueCode(
                for: state.request, of: session.id, finishing: nil, at: visit.issuer, by: opaque)
        }
        guard let code else { return .reload(cookie) }
        return .ended(.code(code, to: state.request.returnAddress), of: state.client, cookie)
    }

    func end(
        _ state: RequestState, _ visit: Visit, with error: OAuthError, cookie: SessionCookie?
    ) async throws -> StepAnswer {
        let isEnded = try await store.end(state.visit.stored.hash, application: visit.issuer.application.id)
        guard isEnded || cookie != nil else { return .reload(nil) }
        if state.client.own == .accountPages {
            return .account(state.request.returnAddress.redirectURI, session: nil, cookie)
        }
        return .ended(.error(error, to: state.request.returnAddress), of: state.client, cookie)
    }
}

extension OAuthError {
    static let denied = OAuthError(.accessDenied, "The person has not allowed it")
}
