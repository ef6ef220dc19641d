package import Accounts
internal import ProviderKit

/// The way to a provider's pages and back.
extension RequestSteps {
    /// Sends the browser to a provider's pages, from which it comes back to the present step.
    package func leave(for provider: String, _ context: Context) async throws -> StepResponse {
        let state: RequestState
        switch try await load(context) {
        case .fault(let fault): return .fault(fault)
        case .over(let over): return .fault(over.over)
        case .open(let open): state = open
        }
        do {
            guard let redirect = try await callbacks.leave(for: provider, on: state, context) else {
                return try await use(ProviderCallback(provider: provider), of: state, context)
            }
            return .provider(redirect)
        } catch let problem where problem.isForPerson || problem as? ProviderError == .unavailable {
            return try await show(problem, after: nil, at: state, context)
        }
    }

    /// Takes note of what a browser brings back from a provider.
    package func note(_ arrived: PageReturn, at issuer: Issuer) async throws {
        try await callbacks.note(arrived, at: issuer)
    }

    /// Uses a proof from a provider's pages; a refusal is shown on the page that the request is at without it.
    func use(
        _ callback: ProviderCallback, of state: RequestState, _ context: Context
    ) async throws -> StepResponse {
        do {
            let outcome = try await callbacks.use(callback, on: state, context)
            return try await proceed(outcome, from: state, isTyped: false, context)
        } catch let problem where problem.isForPerson {
            let cookie = proofs.cookie(after: callback, context)
            if let answer = try await repeated(under: cookie, of: state, context) { return answer }
            return try await show(problem, after: nil, at: state, context)
        }
    }
}
