internal import Foundation
public import ProviderKit

extension AppleProvider: RedirectProvider {
    /// The URL of Apple's page; for name and address Apple requires the response mode `form_post`.
    /// - Throws: `ProviderError.malformed` if no key is configured, because exchanging the code needs one.
    public func authorizationURL(for flow: RedirectFlow) throws -> String {
        guard service.hasKey else {
            throw ProviderError.malformed(
                field: "provider", reason: "is not set up for the web: it has no teamID, keyID and privateKey")
        }
        return "\(service.baseURL)/auth/authorize".addingQuery([
            "response_type": "code", "response_mode": "form_post", "client_id": webClientID,
            "redirect_uri": flow.callbackURL, "scope": "name email", "state": flow.state, "nonce": flow.nonce,
            "prompt": flow.requiresFreshLogin ? "login" : nil, "max_age": flow.requiresFreshLogin ? "0" : nil,
        ])
    }

    /// Exchanges the code for a token, which must belong to this flow.
    public func complete(_ callback: RedirectCallback, of flow: RedirectFlow) async throws -> VerifiedIdentity {
        guard let code = callback["code"], !code.isEmpty else { throw ProviderError.missing(field: "code") }
        guard let answer = try await service.exchange(code, clientID: webClientID, redirectURI: flow.callbackURL) else {
            throw ProviderError.refused
        }
        guard let idToken = answer["id_token"].string else { throw ProviderError.unavailable }
        let claims = try await claims(of: idToken)
        guard claims.audiences.containsBytes(of: webClientID) else { throw ProviderError.refused }
        try NonceRule.required.check(claim: claims["nonce"], presented: flow.nonce)
        var identity = try identity(from: claims)
        if flow.isTrial { identity.profile = claims.all }
        identity.displayName = callback["user"].flatMap(Self.name)
        identity.authenticatedAt = claims.statedAuthentication ?? flow.beganAt
        if let refreshToken = answer["refresh_token"].string, !refreshToken.isEmpty {
            identity.tokens = ProviderTokens(refreshToken: refreshToken, clientID: webClientID)
        }
        return identity
    }

    private static func name(inForm user: String) -> String? {
        guard let user = JSONValue(json: Array(user.utf8)) else { return nil }
        return PersonName.joined(user["name"]["firstName"].string, user["name"]["lastName"].string)
    }
}

extension AppleProvider: RevokingProvider {
    /// Revokes the refresh token at Apple.
    public func revoke(_ tokens: ProviderTokens) async throws {
        guard let refreshToken = tokens.refreshToken else { return }
        try await service.revoke(refreshToken, clientID: tokens.clientID ?? webClientID)
    }
}
