public import ProviderKit

extension OpenIDConnectProvider {
    /// The URL of the issuer's page (OpenID Connect Core, 3.1.2.1).
    public func authorizationURL(for flow: RedirectFlow) async throws -> String {
        let issuer = try await discovery.document()
        let domains = settings.hostedDomains ?? []
        let own: [String: String?] = [
            "response_type": "code", "client_id": client.id, "redirect_uri": flow.callbackURL, "scope": scope,
            "state": flow.state, "nonce": flow.nonce, "hd": domains.count == 1 ? domains.first : nil,
            "claims": traits.claimsRequest,
        ]
        return issuer.authorizationEndpoint.addingSortedQuery(parameters.query(of: flow, own: own))
            .addingProofKey(of: flow, if: traits.usesProofKey)
    }

    /// Those of the setting `forward`.
    public var forwardedParameters: [String] { parameters.forwarded }

    /// Exchanges the code and verifies the ID token for this flow (OpenID Connect Core, 3.1.3.7).
    ///
    /// The token must contain the flow's nonce. The setting `nonce: off`, for issuers that omit the nonce, accepts a
    /// token without a nonce; then only the state and the proof key bind the token to the flow.
    public func complete(_ callback: RedirectCallback, of flow: RedirectFlow) async throws -> VerifiedIdentity {
        let issuer = try await discovery.document()
        guard issuer.isNamed(in: callback, aliases: traits.aliases) else { throw refusal(.issuerMismatch) }
        guard let code = callback["code"], !code.isEmpty else { throw ProviderError.refused }
        let answer = try await client.exchange(
            code, of: flow, at: issuer.tokenEndpoint, by: authentication(at: issuer), proofKey: traits.usesProofKey)
        guard let idToken = answer.idToken else {
            // Without an access token the response is treated as an outage, without only the ID token as a refusal.
            guard answer.accessToken == nil else { throw refusal(.scopeMissing) }
            ports.findings.note(.upstreamUnusable)
            throw ProviderError.unavailable
        }
        let token = try await verified(idToken, for: [client.id], at: issuer, isFromService: true)
        let rule = nonce == .off && token["nonce"].isNull ? NonceRule.off : .required
        do {
            try rule.check(claim: token["nonce"], presented: flow.nonce)
        } catch {
            throw refusal(.nonceMismatch)
        }
        guard token.isForParty(in: [client.id]) else { throw refusal(.audienceMismatch) }
        guard token.matches(accessToken: answer.accessToken) else { throw refusal(.signatureInvalid) }

        var documents = [token.document]
        if evidence.isIncomplete(documents), let accessToken = answer.accessToken {
            let userInfo = try await userInfo(of: token, with: accessToken, at: issuer)
            if userInfo == nil, issuer.userInfoEndpoint != nil { ports.findings.note(.scopeMissing) }
            documents += [userInfo].compactMap(\.self)
        }
        var identity = try identity(of: token, by: documents)
        identity.tokens = answer.kept(for: issuer.revocationEndpoint)
        if flow.isTrial { identity.profile = documents.claims }
        return identity
    }

    /// Notes why the response of the issuer is refused.
    private func refusal(_ finding: ProviderFinding) -> ProviderError {
        ports.findings.note(finding)
        return .refused
    }

    private var scope: String {
        let scopes = settings.scopes ?? ["email", "profile"]
        return (["openid"] + scopes.filter { $0 != "openid" }).joined(separator: " ")
    }

    /// Revokes the tokens (RFC 7009), if the issuer supports that.
    public func revoke(_ tokens: ProviderTokens) async throws {
        let issuer = try await discovery.document()
        guard let endpoint = issuer.revocationEndpoint else { return }
        // Revokes the refresh token first, because this also revokes its access tokens (RFC 7009, 2.1).
        let given = [("refresh_token", tokens.refreshToken), ("access_token", tokens.accessToken)]
        for (kind, token) in given {
            guard let token else { continue }
            try await client.revoke(token, kind: kind, at: endpoint, by: authentication(at: issuer))
        }
    }
}
