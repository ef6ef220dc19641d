internal import ProviderKit

extension String {
    /// Our proof key (RFC 7636, 4.3), unless the service takes offence at it.
    func addingProofKey(of flow: RedirectFlow, if isUsed: Bool) -> String {
        isUsed ? addingQuery(["code_challenge": flow.codeChallenge, "code_challenge_method": "S256"]) : self
    }

    /// That the person must prove who they are again (OpenID Connect Core, 3.1.2.1), where the flow is for that.
    func addingFreshLogin(of flow: RedirectFlow) -> String {
        flow.requiresFreshLogin ? addingQuery(["prompt": "login", "max_age": "0"]) : self
    }
}
