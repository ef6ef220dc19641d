internal import ProviderKit

/// What a token endpoint's response says about the client (RFC 6749, 5.2).
struct TokenRefusal: Sendable {
    /// The error code; `nil` if the response has none that can be shown.
    let code: String?
    let status: Int

    init(_ response: FetchResponse) {
        status = response.status
        let code = response.json?["error"].string
        let isPlain = code?.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") } == true
        self.code = code.flatMap { isPlain && (1...64).contains($0.utf8.count) ? $0 : nil }
    }

    /// What is wrong with the registration; `nil` if the response does not say.
    ///
    /// GitHub and Google have codes of their own.
    var finding: ProviderFinding? {
        switch code {
        case "invalid_client", "unauthorized_client", "incorrect_client_credentials": .clientRefused
        case "redirect_uri_mismatch": .redirectRefused
        case "invalid_scope": .scopeMissing
        case _?: nil
        case nil: status == 401 ? .clientRefused : nil
        }
    }

    /// Whether the service has authenticated the client and refused the code.
    var provesClient: Bool { ["invalid_grant", "bad_verification_code"].contains(code) }

    /// The status and the code.
    var evidence: String { ["HTTP \(status)", code].compactMap(\.self).joined(separator: ", ") }
}

extension OAuthClient {
    /// Asks for a token with a code that cannot exist: only a service that accepts the client refuses the code itself.
    func probe(
        of callbackURL: String, at endpoint: String, by authentication: ClientAuthentication, proofKey: Bool
    ) -> FetchRequest {
        var form = [
            "grant_type": "authorization_code", "code": "gatehouse-diagnosis-of-the-client",
            "redirect_uri": callbackURL,
        ]
        if proofKey { form["code_verifier"] = String(repeating: "gatehouse", count: 5) }
        return request(form, to: endpoint, by: authentication)
    }

    /// What the response to the probe says about the client.
    static func outcome(of result: Result<FetchResponse, ProviderFinding>) -> CheckOutcome {
        switch result {
        case .failure(let finding): return .failed(finding)
        case .success(let response):
            let refusal = TokenRefusal(response)
            if refusal.provesClient {
                return .ok("The service accepts the client id and the secret.", evidence: refusal.evidence)
            }
            if let finding = refusal.finding { return .failed(finding, evidence: refusal.evidence) }
            if response.status >= 500 { return .failed(.upstreamError, evidence: refusal.evidence) }
            return .warning(
                "The service has not said whether it accepts the client id and the secret.",
                remedy: "Sign in once to be sure.", evidence: refusal.evidence)
        }
    }
}
