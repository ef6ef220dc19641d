public import ProviderKit

extension OpenIDConnectProvider {
    /// Checks an ID token that an app got from the issuer's SDK, for this client or one of the apps' own.
    ///
    /// One with a nonce is used up by its first success; one without may be presented again until it expires, but
    /// re-authenticates only once.
    public func verify(_ presented: NativeToken) async throws -> VerifiedIdentity {
        let issuer = try await discovery.document()
        let clients = [client.id] + (settings.audiences ?? [])
        let token = try await verified(presented.idToken, for: clients, at: issuer)
        try nonce.check(claim: token["nonce"], presented: presented.nonce)
        // A token for one audience may name the app that asked for it as its party: Google's on Android do. Nor need the
        // access token be the one of `at_hash`: SDKs renew each by itself.
        guard token.audiences.count < 2 || token.isForParty(in: clients) else { throw ProviderError.refused }

        var documents = [token.document]
        if evidence.isIncomplete(documents), let accessToken = presented.accessToken, issuer.userInfoEndpoint != nil {
            guard let userInfo = try await userInfo(of: token, with: accessToken, at: issuer) else {
                throw ProviderError.refused
            }
            documents.append(userInfo)
        }
        var identity = try identity(of: token, by: documents)
        identity.authenticatedAt = min(token.provenAt, ports.now())
        identity.singleUse = token.singleUse(by: "nonce")
        identity.singleReauthentication = identity.singleUse == nil ? token.singleUse : nil
        return identity
    }
}
