public import ProviderKit

extension OpenIDConnectProvider {
    /// Gives the token back (RFC 7009), where the issuer takes it.
    public func revoke(_ tokens: ProviderTokens) async throws {
        let issuer = try await discovery.document()
        guard let endpoint = issuer.revocationEndpoint else { return }
        // The refresh token first: revoking it ends its access tokens as well (RFC 7009, 2.1).
        let given = [("refresh_token", tokens.refreshToken), ("access_token", tokens.accessToken)]
        for (kind, token) in given {
            guard let token else { continue }
            try await client.revoke(token, kind: kind, at: endpoint, by: authentication(at: issuer))
        }
    }
}
