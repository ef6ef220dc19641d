internal import Accounts
internal import Foundation
package import ProviderKit

/// Userinfo, introspection (RFC 7662) and revocation (RFC 7009).
package struct TokenInspection: Sendable {
    let store: any ClientSessionStore & SessionBearerStore
    let directory: ClientDirectory
    let issuing: TokenIssuing
    let access: any AccessTokens
    let revocations: any Revocations
    let counts: IntrospectionCounts

    /// The claims about the account of an access token (OpenID Connect Core, 5.3).
    /// - Throws: `OAuthError` with `invalid_token` or `insufficient_scope`.
    package func userInfo(_ text: String, at issuer: Issuer) async throws -> [String: JSONValue] {
        let lacking = OAuthError(.insufficientScope, "The token lacks the scope openid")
        let token: ClientAccessToken
        do {
            token = try await ClientAccessToken.verified(text, of: issuer, by: issuing.jwts, at: issuing.time.now())
        } catch let error as OAuthError {
            throw try await ofAPI(text, at: issuer) == nil ? error : lacking
        }
        guard token.has(.openid) else { throw lacking }
        guard let session = token.sessionID, try await !isEnded(token, in: issuer.application),
            let client = try await directory.client(of: token, at: issuer),
            let account = try await store.accountClaims(
                ofSession: session, client: token.clientID, application: issuer.application.id)
        else { throw OAuthError.invalidToken }
        var members = account.members(scopes: token.scopes, named: token.requestedClaims ?? [])
        members["sub"] = .string(token.subject)
        let former = account.absorbed.map { issuer.subject(of: $0, for: client, by: issuing.opaque) }
        if !former.isEmpty { members["aliases"] = .array(former.map { .string($0) }) }
        return members
    }

    /// What the client may know about a token; `nil` if the token is not active, or is none of the client's concern.
    package func introspect(
        _ text: String, by client: OAuthClient, at issuer: Issuer
    ) async throws -> [String: JSONValue]? {
        guard !client.isPublic else { throw OAuthError.invalidClient }
        if SessionBearer.isForm(of: text) { return try await introspectForAPI(text, by: client, at: issuer) }
        if let refreshToken = issuing.opaque.parse(text) {
            return try await introspect(refreshToken, by: client, at: issuer)
        }
        let token: ClientAccessToken
        do {
            token = try await ClientAccessToken.verified(text, of: issuer, by: issuing.jwts, at: issuing.time.now())
        } catch is OAuthError {
            return try await introspectForAPI(text, by: client, at: issuer)
        }
        if !token.clientID.hasSameBytes(as: client.id) {
            guard client.introspects.contains(where: token.audience.containsBytes),
                try await directory.client(of: token, at: issuer) != nil
            else { return nil }
        }
        guard try await !isEnded(token, in: issuer.application) else { return nil }
        var members: [String: JSONValue] = [
            "active": .bool(true), "scope": .string(token.scope), "client_id": .string(token.clientID),
            "token_type": .string("Bearer"), "exp": .integer(Int64(token.expiresAt)),
            "iat": .integer(Int64(token.issuedAt)), "sub": .string(token.subject),
            "aud": .array(token.audience.map { .string($0) }), "iss": .string(token.issuer),
            "jti": .string(token.tokenID.text),
        ]
        members["sid"] = token.sessionID.map { .string($0.text) }
        members["auth_time"] = token.authenticatedAt.map { .integer(Int64($0)) }
        members["acr"] = token.level.map { .string($0) }
        members["amr"] = token.methods.map { .array($0.map { .string($0) }) }
        return members
    }

    private func introspect(
        _ token: OpaqueToken, by client: OAuthClient, at issuer: Issuer
    ) async throws -> [String: JSONValue]? {
        let session = try await store.clientSession(
            ofRefreshToken: token.ofClient.hash, unlessRotatedTo: issuing.opaque.successor(of: token).ofClient.hash,
            issuer: issuer.url,
            application: issuer.application.id)
        guard let session, session.clientID.hasSameBytes(as: client.id) else { return nil }
        return [
            "active": .bool(true), "scope": .string(session.scopes.joined(separator: " ")),
            "client_id": .string(client.id), "iss": .string(issuer.url), "sid": .string(session.id.text),
            "sub": .string(issuer.subject(of: session.uid, for: client, by: issuing.opaque)),
            "exp": .integer(Int64(session.expiresAt.timeIntervalSince1970)),
        ]
    }

    /// Ends the session of the client's own token; other tokens change nothing.
    ///
    /// An access token is taken at each of the application's issuers, as for userinfo and introspection; a refresh token
    /// only at the issuer that it is of.
    /// - Throws: `OAuthError` with `unsupported_token_type` for a token of the client itself.
    package func revoke(_ text: String, by client: OAuthClient, at issuer: Issuer) async throws {
        var (hash, session, url): ([UInt8]?, UUID?, String) = (nil, nil, issuer.url)
        if let refreshToken = issuing.opaque.parse(text) {
            hash = refreshToken.ofClient.hash
        } else {
            let verified = try? await ClientAccessToken.verified(
                text, of: issuer, by: issuing.jwts, at: issuing.time.now())
            guard let token = verified, token.clientID.hasSameBytes(as: client.id) else { return }
            guard let id = token.sessionID else {
                throw OAuthError(.unsupportedTokenType, "A token of the client itself ends when it expires")
            }
            (session, url) = (id, token.issuer)
        }
        try await store.endClientSession(
            session, orOfRefreshToken: hash, client: client.id, issuer: url, application: issuer.application.id)
    }

    private func isEnded(_ token: ClientAccessToken, in application: Application) async throws -> Bool {
        guard let session = token.sessionID else { return false }
        let token = SessionToken(sessionID: session, issuedAt: token.issuedAt, generation: token.generation ?? 0)
        return try await revocations.isRevoked(token, at: issuing.time.now(), application: application.id)
    }
}
