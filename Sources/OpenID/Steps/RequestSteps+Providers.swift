package import Accounts
internal import ProviderKit

/// The way to a provider's pages and back.
extension RequestSteps {
    /// Sends the browser to a provider's pages, from which it comes back to the present step.
    package func leave(for provider: String, _ visit: Visit) async throws -> StepResponse {
        let state: RequestState
        switch try await load(visit) {
        case .fault(let fault): return .fault(fault)
        case .over(let over): return .fault(over.over)
        case .open(let open): state = open
        }
        do {
            guard let redirect = try await callbacks.leave(for: provider, on: state, visit) else {
                return try await use(ProviderCallback(provider: provider), of: state, visit)
            }
            return .provider(redirect)
        } catch let problem where problem.isForPerson || problem as? ProviderError == .unavailable {
            return try await show(problem, after: nil, at: state, visit)
        }
    }

    /// Takes note of what a browser brings back from a provider.
    package func note(_ arrived: PageReturn, at issuer: Issuer) async throws {
        try await callbacks.note(arrived, at: issuer)
    }

    /// Uses a proof from a provider's pages; a refusal is shown on the page that the request is at without it.
    func use(
        _ callback: ProviderCallback, of state: RequestState, _ visit: Visit
    ) async throws -> StepResponse {
        do {
            let outcome = try await callbacks.use(callback, on: state, visit)
            return try await proceed(outcome, from: state, isTyped: false, visit)
        } catch let problem where problem.isForPerson {
            let cookie = proofs.cookie(after: callback, visit)
            if let answer = try await repeated(under: cookie, of: state, visit) { return answer }
            return try await show(problem, after: nil, at: state, visit)
        }
    }
}
