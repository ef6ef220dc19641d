public import ProviderKit

extension OAuth2Provider: DiagnosableProvider {
    /// Whether the token endpoint is reachable, and accepts the client.
    public func checks(with tools: DiagnosticTools) -> [ProviderCheck] {
        let request = client.probe(
            of: tools.callbackURL, at: settings.tokenEndpoint, by: authentication, proofKey: usesProofKey)
        let visit = ServiceVisit(request, with: tools)
        return visit.reachability + [
            visit.clock,
            ProviderCheck("client", after: ["name"]) { OAuthClient.outcome(of: await visit.result) },
        ]
    }
}
