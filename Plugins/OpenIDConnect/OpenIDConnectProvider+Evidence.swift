internal import Foundation
internal import ProviderKit

extension OpenIDConnectProvider {
    /// Verifies a token of this issuer, and requires that its domain and tenant are allowed.
    func verified(
        _ idToken: String, for clients: [String], at issuer: IssuerDocument, isFromService: Bool = false
    ) async throws -> TokenClaims {
        var rules = TokenRules(
            keys: .published(url: issuer.keysURL), algorithms: issuer.algorithms,
            issuers: [issuer.issuer] + traits.aliases, audiences: clients)
        rules.acceptsOnlyIDTokens = true
        rules.isFromService = isFromService
        let token = try await ports.tokens.verify(idToken, by: rules)
        guard token.subject != nil, isAllowed(token["hd"], by: settings.hostedDomains),
            isAllowed(token["tid"], by: settings.tenants)
        else { throw ProviderError.refused }
        return token
    }

    /// Reads userinfo; `nil` if the issuer has no such endpoint or refuses the access token.
    /// - Throws: `ProviderError.refused` if the response is about another person (OpenID Connect Core, 5.3.2),
    ///   `.unavailable` if it is not a JSON object.
    func userInfo(
        of token: TokenClaims, with accessToken: String, at issuer: IssuerDocument
    ) async throws -> JSONValue? {
        guard let endpoint = issuer.userInfoEndpoint,
            let userInfo = try await ports.http.profile(at: endpoint, with: accessToken)
        else { return nil }
        guard userInfo.object != nil else { throw ProviderError.unavailable }
        guard let subject = userInfo["sub"].string, token.subject?.hasSameBytes(as: subject) == true else {
            throw ProviderError.refused
        }
        return userInfo
    }

    /// The evidence from the token and, for claims that the token lacks, from userinfo.
    func identity(of token: TokenClaims, by documents: [JSONValue]) throws -> VerifiedIdentity {
        var identity = try evidence.identity(in: documents)
        identity.methods = token.methods
        // The issuer's clock may be ahead, so later times are replaced by the current time.
        identity.authenticatedAt = token.statedAuthentication.map { min($0, ports.now()) }
        return identity
    }

    private func isAllowed(_ claim: JSONValue, by list: [String]?) -> Bool {
        guard let list else { return true }
        guard let value = claim.string else { return false }
        return list.contains { $0.hasSameBytes(ignoringCaseAs: value) }
    }
}

extension TokenClaims {
    var document: JSONValue { .object(all) }

    /// The authentication methods that the issuer states (RFC 8176); `fed` (federated) if it states none.
    var methods: [String] {
        let named = (self["amr"].array ?? []).compactMap(\.string).filter { (1...32).contains($0.utf8.count) }
        return named.isEmpty ? ["fed"] : Array(named.prefix(8))
    }

    /// Whether `azp` is one of these clients, as several audiences require (OpenID Connect Core, 3.1.3.7).
    func isForParty(in clients: [String]) -> Bool {
        guard !self["azp"].isNull else { return audiences.count < 2 }
        return self["azp"].string.map { clients.containsBytes(of: $0) } ?? false
    }

    /// Whether `at_hash` matches this access token, if both are present (OpenID Connect Core, 3.1.3.6).
    ///
    /// The hash is the left half of a digest in base64url. Only hashes of 22 characters, which are from SHA-256, are
    /// checked. The first 21 characters are compared, because the last one contains only two bits of the hash.
    func matches(accessToken: String?) -> Bool {
        guard let accessToken, let hash = self["at_hash"].string, hash.utf8.count == 22 else { return true }
        return CodeChallenge.s256(of: accessToken).prefix(21) == hash.prefix(21)
    }
}
