internal import Foundation
internal import ProviderKit

extension OpenIDConnectProvider {
    /// The claims of a token of this issuer, of a person who may sign in.
    func verified(
        _ idToken: String, for clients: [String], at issuer: IssuerDocument
    ) async throws -> TokenClaims {
        let rules = TokenRules(
            keys: .published(url: issuer.keysURL), algorithms: issuer.algorithms,
            issuers: [issuer.issuer] + traits.aliases, audiences: clients)
        let token = try await ports.tokens.verify(idToken, by: rules)
        guard token.subject != nil, isAllowed(token["hd"], by: settings.hostedDomains),
            isAllowed(token["tid"], by: settings.tenants)
        else { throw ProviderError.refused }
        return token
    }

    /// What the issuer says beyond the token; `nil` where it has no such page or the access token opens it not.
    ///
    /// - Throws: `ProviderError.refused` where it is about somebody else (OpenID Connect Core, 5.3.2), `.unavailable`
    ///   where it is not an object.
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

    /// Evidence from the token, and from userinfo for what the token leaves out.
    func identity(of token: TokenClaims, by documents: [JSONValue]) throws -> VerifiedIdentity {
        var identity = try evidence.identity(in: documents)
        identity.methods = token.methods
        // The issuer's clock may be ahead of ours.
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

    /// How the person proved who they are, where the issuer says so (RFC 8176), else just that another service did.
    var methods: [String] {
        let named = (self["amr"].array ?? []).compactMap(\.string).filter { (1...32).contains($0.utf8.count) }
        return named.isEmpty ? ["fed"] : Array(named.prefix(8))
    }

    /// `azp` is one of these clients; it is required among several audiences (OpenID Connect Core, 3.1.3.7).
    func isForParty(in clients: [String]) -> Bool {
        guard !self["azp"].isNull else { return audiences.count < 2 }
        return self["azp"].string.map { clients.containsBytes(of: $0) } ?? false
    }

    /// `at_hash` is of this access token, where both are there (OpenID Connect Core, 3.1.3.6).
    ///
    /// The hash is the left half of a digest. Its size tells which: 22 characters are SHA-256's. Those of longer digests
    /// are passed over. 21 whole characters say enough; the last one holds two bits.
    func matches(accessToken: String?) -> Bool {
        guard let accessToken, let hash = self["at_hash"].string, hash.utf8.count == 22 else { return true }
        return CodeChallenge.s256(of: accessToken).prefix(21) == hash.prefix(21)
    }
}
