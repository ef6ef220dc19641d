extension TokenVerifying {
    /// Checks that the service responds with a JWK Set that has a key for one of the algorithms.
    public func check(_ visit: ServiceVisit, for algorithms: Set<TokenRules.Algorithm>) async -> CheckOutcome {
        let response: FetchResponse
        do throws(ProviderFinding) {
            response = try await visit.result.get()
        } catch {
            return .failed(error)
        }
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
