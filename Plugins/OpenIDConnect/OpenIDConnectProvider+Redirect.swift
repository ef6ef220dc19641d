public import ProviderKit

extension OpenIDConnectProvider {
    /// The issuer's page (OpenID Connect Core, 3.1.2.1), with our state, nonce and proof key.
    public func authorizationURL(for flow: RedirectFlow) async throws -> String {
        let issuer = try await discovery.document()
        let domains = settings.hostedDomains ?? []
        return issuer.authorizationEndpoint
            .addingQuery([
                "response_type": "code", "client_id": client.id, "redirect_uri": flow.callbackURL, "scope": scope,
                "state": flow.state, "nonce": flow.nonce, "hd": domains.count == 1 ? domains.first : nil,
                "claims": traits.claimsRequest,
            ])
            .addingProofKey(of: flow, if: traits.usesProofKey)
            .addingFreshLogin(of: flow)
    }

    /// Exchanges the code and checks the ID token against this one flow (OpenID Connect Core, 3.1.3.7).
    ///
    /// Tokens that apps bring may lack a nonce, but this flow's own must come back; only with `nonce: off`, for issuers
    /// that leave it out, a token without one rests on the flow's state and proof key.
    public func complete(_ callback: RedirectCallback, of flow: RedirectFlow) async throws -> VerifiedIdentity {
        let issuer = try await discovery.document()
        guard issuer.isNamed(in: callback, aliases: traits.aliases), let code = callback["code"], !code.isEmpty else {
            throw ProviderError.refused
        }
        let answer = try await client.exchange(
            code, of: flow, at: issuer.tokenEndpoint, by: authentication(at: issuer), proofKey: traits.usesProofKey)
        guard let idToken = answer.idToken else {
            // With neither token the answer is none.
            throw answer.accessToken == nil ? ProviderError.unavailable : .refused
        }
        let token = try await verified(idToken, for: [client.id], at: issuer)
        let rule = nonce == .off && token["nonce"].isNull ? NonceRule.off : .required
        try rule.check(claim: token["nonce"], presented: flow.nonce)
        guard token.isForParty(in: [client.id]), token.matches(accessToken: answer.accessToken) else {
            throw ProviderError.refused
        }

        var documents = [token.document]
        if evidence.isIncomplete(documents), let accessToken = answer.accessToken {
            documents += [try await userInfo(of: token, with: accessToken, at: issuer)].compactMap(\.self)
        }
        var identity = try identity(of: token, by: documents)
        identity.tokens = answer.kept(for: issuer.revocationEndpoint)
        return identity
    }

    private var scope: String {
        let scopes = settings.scopes ?? ["email", "profile"]
        return (["openid"] + scopes.filter { $0 != "openid" }).joined(separator: " ")
    }
}
