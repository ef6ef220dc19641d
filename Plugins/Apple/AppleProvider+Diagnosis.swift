public import ProviderKit

extension AppleProvider: DiagnosableProvider {
    /// Whether Apple is reachable, its keys are usable, and it accepts the team's key.
    public func checks(with tools: DiagnosticTools) -> [ProviderCheck] {
        let visit = ServiceVisit(.get(service.baseURL + "/auth/keys"), with: tools)
        return visit.reachability + [
            ProviderCheck("keys", after: ["name"]) { await tokens.check(visit, for: [.rs256]) },
            visit.clock,
            ProviderCheck("client", after: ["name"]) { await checkClient(with: tools) },
        ]
    }

    private func checkClient(with tools: DiagnosticTools) async -> CheckOutcome {
        let form = [
            "grant_type": "authorization_code", "code": "gatehouse-diagnosis-of-the-client",
            "redirect_uri": tools.callbackURL,
        ]
        guard service.hasKey else {
            return .skipped("There is no key, so Apple is never asked with it; apps can sign in, but not the web.")
        }
        guard let request = service.request(form, to: "/auth/token", clientID: webClientID) else {
            return .failed(
                "The key can't sign.", remedy: "Check `privateKey`: the .p8 file of a key for Sign in with Apple.")
        }
        switch await ServiceVisit(request, with: tools).result {
        case .failure(let finding): return .failed(finding)
        case .success(let response):
            switch response.tokenError {
            case "invalid_grant": return .ok("Apple accepts the client and its key.", evidence: "invalid_grant")
            case "invalid_client", "unauthorized_client":
                return .failed(
                    ProviderFinding.clientRefused.sentence,
                    remedy: "Compare `teamID`, `keyID` and the client id with the registration at Apple.",
                    evidence: ProviderFinding.clientRefused.rawValue)
            default:
                return .warning(
                    "Apple has not said whether it accepts the client.", remedy: "Sign in once to be sure.",
                    evidence: "HTTP \(response.status)")
            }
        }
    }
}
