public import ProviderKit

extension OpenIDConnectProvider: DiagnosableProvider {
    /// Whether the issuer is reachable, its document and keys are usable, and it accepts the client.
    ///
    /// The secret is sent only if the document names the configured issuer.
    public func checks(with tools: DiagnosticTools) -> [ProviderCheck] {
        let visit = ServiceVisit(.get(discovery.url), with: tools)
        return visit.reachability + [
            ProviderCheck("discovery", after: ["name"]) { await checkDiscovery(visit) },
            ProviderCheck("issuer", after: ["discovery"]) { await checkIssuer(visit) },
            ProviderCheck("keys", after: ["discovery"]) { await checkKeys(visit, with: tools) },
            visit.clock,
            ProviderCheck("client", after: ["discovery", "issuer"]) { await checkClient(visit, with: tools) },
        ]
    }

    private func checkDiscovery(_ visit: ServiceVisit) async -> CheckOutcome {
        let remedy = "The settings lead to \(discovery.url); check the issuer."
        switch await visit.result {
        case .failure(.upstreamUntrusted): return .skipped("There is no TLS to ask for the document with.")
        case .failure(let finding): return .failed(finding)
        case .success(let response):
            guard response.isSuccess else {
                return .failed(
                    "The issuer has no discovery document.", remedy: remedy, evidence: "HTTP \(response.status)")
            }
            guard let json = response.json, json.object != nil else {
                return .failed("The discovery document is not JSON.", remedy: remedy)
            }
            guard document(in: response) != nil else {
                return .failed(
                    "The discovery document lacks an endpoint, or an algorithm that the server accepts.",
                    remedy: "It needs issuer, authorization_endpoint, token_endpoint and jwks_uri, all https, and "
                        + "an asymmetric algorithm.")
            }
            return .ok("The discovery document is complete.", evidence: discovery.url)
        }
    }

    private func checkIssuer(_ visit: ServiceVisit) async -> CheckOutcome {
        guard let document = await document(of: visit) else { return .skipped("There is no discovery document.") }
        guard discovery.accepted.containsBytes(of: document.issuer) else {
            return .failed(.issuerMismatch, evidence: document.issuer)
        }
        return .ok("The document names the configured issuer.", evidence: document.issuer)
    }

    private func checkKeys(_ visit: ServiceVisit, with tools: DiagnosticTools) async -> CheckOutcome {
        guard let document = await document(of: visit) else { return .skipped("There is no discovery document.") }
        return await ports.tokens.check(
            ServiceVisit(.get(document.keysURL), with: tools), for: document.algorithms)
    }

    private func checkClient(_ visit: ServiceVisit, with tools: DiagnosticTools) async -> CheckOutcome {
        guard let document = await document(of: visit) else { return .skipped("There is no discovery document.") }
        let request = client.probe(
            of: tools.callbackURL, at: document.tokenEndpoint, by: authentication(at: document),
            proofKey: traits.usesProofKey)
        return OAuthClient.outcome(of: await ServiceVisit(request, with: tools).result)
    }

    private func document(of visit: ServiceVisit) async -> IssuerDocument? {
        guard case .success(let response) = await visit.result else { return nil }
        return document(in: response)
    }

    /// The document, whatever issuer it names.
    private func document(in response: FetchResponse) -> IssuerDocument? {
        guard let json = response.json, let issuer = json["issuer"].string else { return nil }
        return try? IssuerDocument(json, from: [issuer])
    }
}
