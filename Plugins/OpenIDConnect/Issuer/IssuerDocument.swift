internal import ProviderKit

/// An issuer's discovery document (OpenID Connect Discovery, 3).
struct IssuerDocument: Sendable, Equatable {
    let issuer, authorizationEndpoint, tokenEndpoint, keysURL: String
    let userInfoEndpoint, revocationEndpoint: String?
    /// How the client authenticates at the token endpoint.
    let authentication: ClientAuthentication
    /// The supported asymmetric algorithms of ID tokens.
    let algorithms: Set<TokenRules.Algorithm>
    /// Whether callbacks always contain `iss` (RFC 9207, 3).
    let namesItself: Bool

    /// - Throws: `ProviderError.unavailable` if the document belongs to another issuer or lacks a required member.
    init(_ json: JSONValue, from accepted: [String]) throws {
        guard let issuer = json["issuer"].string, accepted.containsBytes(of: issuer),
            let authorizationEndpoint = json["authorization_endpoint"].endpoint(of: issuer),
            let tokenEndpoint = json["token_endpoint"].endpoint(of: issuer),
            let keysURL = json["jwks_uri"].endpoint(of: issuer)
        else { throw ProviderError.unavailable }
        (self.issuer, self.authorizationEndpoint) = (issuer, authorizationEndpoint)
        (self.tokenEndpoint, self.keysURL) = (tokenEndpoint, keysURL)
        userInfoEndpoint = json["userinfo_endpoint"].endpoint(of: issuer)
        revocationEndpoint = json["revocation_endpoint"].endpoint(of: issuer)
        namesItself = json["authorization_response_iss_parameter_supported"].bool ?? false

        // The default is `client_secret_basic`, which uses the header (Discovery, 3).
        let methods = json["token_endpoint_auth_methods_supported"].array?.compactMap(\.string) ?? []
        authentication =
            methods.containsBytes(of: "client_secret_post") && !methods.containsBytes(of: "client_secret_basic")
            ? .post : .basic
        let named = json["id_token_signing_alg_values_supported"].array?.compactMap(\.string) ?? ["RS256"]
        algorithms = Set(named.compactMap { TokenRules.Algorithm(bytesOf: $0) })
        guard !algorithms.isEmpty else { throw ProviderError.unavailable }
    }

    /// Whether the callback's `iss` is this issuer (RFC 9207), so that its code is not sent to another issuer.
    ///
    /// The parameter `iss` may be absent, unless the issuer states that it always sends `iss`.
    func isNamed(in callback: RedirectCallback, aliases: [String]) -> Bool {
        guard let named = callback["iss"] else { return !namesItself }
        return named.hasSameBytes(as: issuer) || aliases.containsBytes(of: named) || isTemplate(of: named)
    }

    /// Whether the issuer is a template of `named`: Microsoft's document has `{tenantid}` instead of the tenant.
    private func isTemplate(of named: String) -> Bool {
        let parts = issuer.components(around: "{tenantid}")
        guard let parts, named.utf8.count <= 1024, named.hasPrefix(parts.0), named.hasSuffix(parts.1) else {
            return false
        }
        let tenant = named.dropFirst(parts.0.count).dropLast(parts.1.count)
        return !tenant.isEmpty && !tenant.contains("/")
    }
}

extension JSONValue {
    /// The URL of an endpoint; `http` only if the issuer itself uses it, as in tests.
    fileprivate func endpoint(of issuer: String) -> String? {
        guard let url = string, url.utf8.count <= 2048 else { return nil }
        return url.hasPrefix("https://") || issuer.hasPrefix("http://") && url.hasPrefix("http://") ? url : nil
    }
}

extension String {
    fileprivate func components(around separator: String) -> (Substring, Substring)? {
        firstRange(of: separator).map { (self[..<$0.lowerBound], self[$0.upperBound...]) }
    }
}
