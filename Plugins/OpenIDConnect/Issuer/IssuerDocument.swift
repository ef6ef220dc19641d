internal import ProviderKit

/// What an issuer says about itself (OpenID Connect Discovery, 3).
struct IssuerDocument: Sendable, Equatable {
    let issuer: String
    let authorizationEndpoint: String
    let tokenEndpoint: String
    let keysURL: String
    let userInfoEndpoint: String?
    let revocationEndpoint: String?
    /// As the issuer prefers it.
    let authentication: ClientAuthentication
    /// The asymmetric ones that its ID tokens may be signed with.
    let algorithms: Set<TokenRules.Algorithm>
    /// It names itself whenever it sends somebody back (RFC 9207, 3).
    let namesItself: Bool

    /// - Throws: `ProviderError.unavailable` where this is no document of one of these issuers, or nothing works by it.
    init(_ json: JSONValue, from accepted: [String]) throws {
        guard let issuer = json["issuer"].string, accepted.contains(issuer),
            let authorizationEndpoint = json["authorization_endpoint"].endpoint(of: issuer),
            let tokenEndpoint = json["token_endpoint"].endpoint(of: issuer),
            let keysURL = json["jwks_uri"].endpoint(of: issuer)
        else { throw ProviderError.unavailable }
        self.issuer = issuer
        self.authorizationEndpoint = authorizationEndpoint
        self.tokenEndpoint = tokenEndpoint
        self.keysURL = keysURL
        userInfoEndpoint = json["userinfo_endpoint"].endpoint(of: issuer)
        revocationEndpoint = json["revocation_endpoint"].endpoint(of: issuer)
        namesItself = json["authorization_response_iss_parameter_supported"].bool ?? false

        // Without a word it is the header (Discovery, 3).
        let methods = json["token_endpoint_auth_methods_supported"].array?.compactMap(\.string) ?? []
        authentication =
            methods.contains("client_secret_post") && !methods.contains("client_secret_basic") ? .post : .basic
        let named = json["id_token_signing_alg_values_supported"].array?.compactMap(\.string) ?? ["RS256"]
        algorithms = Set(named.compactMap { TokenRules.Algorithm(rawValue: $0) })
        guard !algorithms.isEmpty else { throw ProviderError.unavailable }
    }

    /// Whoever sent the browser back is this issuer, where it or the issuer's word requires that to be said (RFC 9207).
    ///
    /// Otherwise a code of ours could be carried to another issuer's token endpoint.
    func isNamed(in callback: RedirectCallback, aliases: [String]) -> Bool {
        guard let named = callback["iss"] else { return !namesItself }
        return named == issuer || aliases.contains(named) || isTemplate(of: named)
    }

    /// Microsoft writes `{tenantid}` for whichever tenant the person is of.
    private func isTemplate(of named: String) -> Bool {
        let parts = issuer.components(around: "{tenantid}")
        guard let parts, named.hasPrefix(parts.0), named.hasSuffix(parts.1) else { return false }
        let tenant = named.dropFirst(parts.0.count).dropLast(parts.1.count)
        return !tenant.isEmpty && !tenant.contains("/")
    }
}

extension JSONValue {
    /// Where a request, or even a browser, may be sent: in the clear only where the issuer itself is, as in tests.
    fileprivate func endpoint(of issuer: String) -> String? {
        string.flatMap { $0.hasPrefix("https://") || issuer.hasPrefix("http://") && $0.hasPrefix("http://") ? $0 : nil }
    }
}

extension String {
    fileprivate func components(around separator: String) -> (Substring, Substring)? {
        firstRange(of: separator).map { (self[..<$0.lowerBound], self[$0.upperBound...]) }
    }
}
