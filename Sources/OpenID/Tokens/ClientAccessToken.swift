internal import Accounts
package import Foundation
internal import ProviderKit

/// The claims of a client's access token (RFC 9068).
package struct ClientAccessToken: Sendable, Equatable, Decodable {
    package var issuer, subject, clientID, scope: String
    package var audience: [String]
    package var issuedAt, expiresAt: Int
    package var tokenID: UUID
    /// `nil` for a token of the client itself.
    package var sessionID: UUID?
    package var authenticatedAt: Int?
    package var methods: [String]?
    package var level: String?
    package var generation: Int32?
    /// The claims that userinfo returns besides those of the scopes.
    package var requestedClaims: [String]?
    /// The claims of the API's own tokens, in a token with the scope `account`; not decoded.
    var accountClaims: [String: JSONValue] = [:]

    enum CodingKeys: String, CodingKey {
        case issuer = "iss"
        case subject = "sub"
        case clientID = "client_id"
        case audience = "aud"
        case issuedAt = "iat"
        case expiresAt = "exp"
        case tokenID = "jti"
        case sessionID = "sid"
        case scope
        case authenticatedAt = "auth_time"
        case methods = "amr"
        case level = "acr"
        case generation = "gen"
        case requestedClaims = "userinfo_claims"
    }

    package var scopes: [Substring] { scope.split(separator: " ") }

    func has(_ scope: StandardScope) -> Bool { scopes.containsBytes(of: scope.rawValue) }

    var payload: [UInt8] {
        var writer = JSONObjectWriter()
        writer.add(CodingKeys.issuer, issuer)
        writer.add(CodingKeys.subject, subject)
        writer.add(CodingKeys.audience, audience)
        writer.add(CodingKeys.clientID, clientID)
        writer.add(CodingKeys.issuedAt, issuedAt)
        writer.add(CodingKeys.expiresAt, expiresAt)
        writer.add(CodingKeys.tokenID, tokenID.text)
        if let sessionID { writer.add(CodingKeys.sessionID, sessionID.text) }
        writer.add(CodingKeys.scope, scope)
        if let authenticatedAt { writer.add(CodingKeys.authenticatedAt, authenticatedAt) }
        if let methods { writer.add(CodingKeys.methods, methods) }
        if let level { writer.add(CodingKeys.level, level) }
        if let generation, generation != 0 { writer.add(CodingKeys.generation, Int(generation)) }
        if let requestedClaims, !requestedClaims.isEmpty { writer.add(CodingKeys.requestedClaims, requestedClaims) }
        for (name, value) in accountClaims.sorted(by: { $0.key < $1.key }) where CodingKeys(stringValue: name) == nil {
            writer.add(name, value)
        }
        return writer.finished()
    }
}

extension ClientAccessToken {
    /// Verifies a token of the application, by any of its issuers, and its times, but not whether its session is live.
    /// - Throws: `OAuthError` with `invalid_token`.
    static func verified(
        _ text: String, of issuer: Issuer, by jwts: any ApplicationJWTs, at time: Date
    ) async throws -> ClientAccessToken {
        let token: ClientAccessToken?
        do {
            token = try await jwts.claims(of: text, as: .accessToken, for: issuer.application)
        } catch AccountsError.invalidToken {
            throw OAuthError.invalidToken
        }
        guard let token, issuer.urls.containsBytes(of: token.issuer), token.expiresAt > Int(time.timeIntervalSince1970)
        else { throw OAuthError.invalidToken }
        return token
    }
}
