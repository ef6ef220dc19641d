extension TokenVerifying {
    /// Fetches a JWK Set, and checks that it has a key for one of the algorithms.
    public func check(
        _ url: String, for algorithms: Set<TokenRules.Algorithm>, with tools: DiagnosticTools
    ) async -> CheckOutcome {
        let response: FetchResponse
        do throws(ProviderFinding) {
            response = try await tools.service.fetch(.get(url))
        } catch {
            return .failed(error)
        }
        return check(response, for: algorithms)
    }

    /// Checks that a response is a JWK Set with a key for one of the algorithms.
    public func check(_ response: FetchResponse, for algorithms: Set<TokenRules.Algorithm>) -> CheckOutcome {
        guard response.status == 200 else {
            return .failed(.keysUnusable, evidence: "HTTP \(response.status)")
        }
        do {
            try check(published: response.body, for: algorithms)
            let names = algorithms.map(\.rawValue).sorted().joined(separator: ", ")
            return .ok("The service publishes keys that the server accepts.", evidence: names)
        } catch {
            return .failed(.keysUnusable, evidence: (error as? UnreadableKeys).map { "the keys \($0.reason)" })
        }
    }
}
