internal import Accounts
internal import Foundation
internal import ProviderKit

/// The answer of the token endpoint (RFC 6749, 5.1).
package struct TokenResponse: Sendable {
    package var accessToken: String
    package var expiresIn: Int
    package var scope: String
    package var identityToken, refreshToken: String?
    /// The secret with which the app opens a browser session.
    package var nativeSecret: String?
}

/// Signs access tokens and ID tokens.
struct TokenIssuing: Sendable {
    let jwts: any ApplicationJWTs
    let opaque: any OpaqueTokens
    let time: any TimeSource

    /// Signs an access token of a session, for the scopes and the resource.
    func accessToken(
        of grant: SessionGrant, granted: ClientScope, scopes: [String], resource: String?, client: OAuthClient,
        issuer: Issuer
    ) async throws -> (text: String, token: ClientAccessToken) {
        let now = Int(time.now().timeIntervalSince1970)
        let lifetime = issuer.settings.accessLifetime(
            of: client, resource: resource, in: issuer.application.policy
        ).components.seconds
        let end = min(now + Int(lifetime), Int(grant.expiresAt.timeIntervalSince1970))
        var token = ClientAccessToken(
            issuer: issuer.url, subject: issuer.subject(of: grant.uid, for: client, by: opaque), clientID: client.id,
            scope: scopes.joined(separator: " "), audience: Self.audience(scopes, resource: resource, issuer: issuer),
            issuedAt: now, expiresAt: max(now, end), tokenID: .v7(), sessionID: grant.sessionID,
            authenticatedAt: Int(grant.authenticatedAt.timeIntervalSince1970), methods: Self.methods(of: grant),
            level: granted.isGuest ? "0" : "1", generation: grant.generation, requestedClaims: granted.claims)
        if token.has(.account) { token.accountClaims = grant.accountClaims(in: issuer.application) }
        return (try await jwts.sign(token.payload, as: .accessToken, for: issuer.application), token)
    }

    /// The methods of the authentication, without the claim of another provider that it had several factors.
    private static func methods(of grant: SessionGrant) -> [String] {
        let methods = grant.methods.filter { !$0.hasSameBytes(as: "mfa") }
        return methods.isEmpty ? ["fed"] : methods
    }

    /// Signs an access token of the client itself, for one of its resources (RFC 6749, 4.4).
    func ownToken(
        of client: OAuthClient, scopes: [String], resource: String, issuer: Issuer
    ) async throws -> (text: String, token: ClientAccessToken) {
        let now = Int(time.now().timeIntervalSince1970)
        let lifetime = issuer.settings.accessLifetime(
            of: client, resource: resource, in: issuer.application.policy
        ).components.seconds
        let token = ClientAccessToken(
            issuer: issuer.url, subject: client.id, clientID: client.id, scope: scopes.joined(separator: " "),
            audience: [resource], issuedAt: now, expiresAt: now + Int(lifetime), tokenID: .v7())
        return (try await jwts.sign(token.payload, as: .accessToken, for: issuer.application), token)
    }

    private static func audience(_ scopes: [String], resource: String?, issuer: Issuer) -> [String] {
        var audience = [resource].compactMap(\.self)
        if resource == nil || scopes.contains(StandardScope.openid.rawValue) { audience.append(issuer.url) }
        if scopes.contains(StandardScope.account.rawValue) { audience.append(issuer.application.audience) }
        return audience
    }

    /// Signs an ID token that goes along with an access token (OpenID Connect Core, 2).
    func identityToken(
        with access: (text: String, token: ClientAccessToken), nonce: String?, claims: [String: JSONValue],
        client: OAuthClient, issuer: Issuer
    ) async throws -> String {
        let token = access.token
        return try await jwts.sign(as: .identityToken, for: issuer.application) { algorithm in
            var writer = JSONObjectWriter()
            writer.add("iss", issuer.url)
            writer.add("sub", token.subject)
            writer.add("aud", client.id)
            writer.add("iat", token.issuedAt)
            writer.add("exp", token.issuedAt + Int(JWTKind.identityLifetime.components.seconds))
            if let time = token.authenticatedAt { writer.add("auth_time", time) }
            if let nonce { writer.add("nonce", nonce) }
            if let level = token.level { writer.add("acr", level) }
            if let methods = token.methods { writer.add("amr", methods) }
            if let session = token.sessionID { writer.add("sid", session.text) }
            writer.add("at_hash", Self.hash(of: access.text, for: algorithm))
            for (name, value) in claims.sorted(by: { $0.key < $1.key }) { writer.add(name, value) }
            return writer.finished()
        }
    }

    /// The left half of the hash that the algorithm of the ID token uses: Ed25519 hashes with SHA-512.
    private static func hash(of token: String, for algorithm: SigningAlgorithm) -> String {
        let hash = algorithm == .edDSA ? Digest.sha512(of: token) : Digest.sha256(of: token)
        return Digest.base64URL(hash.prefix(hash.count / 2))
    }
}

extension SessionGrant {
    /// The claims of the API's own tokens that describe the account (docs/api.md).
    fileprivate func accountClaims(in application: Application) -> [String: JSONValue] {
        let reserved: Set = ["nbf", "cnf", "act", "borrowed", "roles", "claims"]
        var claims = application.providers.exposed(profile, of: provider).filter { !reserved.contains($0.key) }
        claims["uid"] = .string(uid.text)
        claims["provider"] = .string(provider)
        claims["providerUid"] = .string(providerUid)
        claims["email"] = email.map { .string($0) }
        claims["email_verified"] = email.map { _ in .bool(true) }
        claims["phone"] = phone.map { .string($0) }
        claims["phone_verified"] = phone.map { _ in .bool(true) }
        if isBorrowed { claims["borrowed"] = .bool(true) }
        return claims.merging(access.tokenMembers) { $1 }
    }
}
