public import ProviderKit

extension OpenIDConnectProvider {
    /// Verifies an ID token that an app received from the issuer's SDK, for this client or one of `audiences`.
    ///
    /// A token with a nonce is valid once. Another can sign in until it expires, but re-authenticate only once.
    public func verify(_ presented: NativeToken) async throws -> VerifiedIdentity {
        let issuer = try await discovery.document()
        let clients = [client.id] + (settings.audiences ?? [])
        let token = try await verified(presented.idToken, for: clients, at: issuer)
        do {
            try nonce.check(claim: token["nonce"], presented: presented.nonce)
        } catch {
            ports.findings.note(.nonceMismatch)
            throw error
        }
        // `azp` of a token with one audience may be the app that requested it, as with Google on Android. `at_hash` is not
        // checked, because SDKs renew access tokens separately.
        guard token.audiences.count < 2 || token.isForParty(in: clients) else { throw ProviderError.refused }

        var documents = [token.document]
        if evidence.isIncomplete(documents), let accessToken = presented.accessToken, issuer.userInfoEndpoint != nil {
            guard accessToken.isBearerToken,
                let userInfo = try await userInfo(of: token, with: accessToken, at: issuer)
            else { throw ProviderError.refused }
            documents.append(userInfo)
        }
        var identity = try identity(of: token, by: documents)
        identity.authenticatedAt = min(token.provenAt, ports.now())
        // A token with a nonce may be presented once.
        let hasNonce = !token["nonce"].isNull
        identity.singleUse = hasNonce ? token.singleUse : nil
        identity.singleReauthentication = hasNonce ? nil : token.singleUse
        return identity
    }
}

extension String {
    /// Whether the text can be sent as a bearer (RFC 6750, 2.1), and is no longer than services accept: visible ASCII
    /// characters, up to 8 KiB.
    fileprivate var isBearerToken: Bool {
        (1...8192).contains(utf8.count) && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
