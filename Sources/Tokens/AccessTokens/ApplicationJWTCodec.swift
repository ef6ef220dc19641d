package import Accounts
internal import Foundation

/// Signs and verifies tokens of OpenID clients.
///
/// Each kind has its own `typ`, and ID tokens and access tokens have different keys, so that a token of one kind is
/// refused as another before its claims are read. An access token of the API (`AccessTokenCodec`) and an ID token share
/// the `typ` `JWT`, so that only their keys differ.
package struct ApplicationJWTCodec: ApplicationJWTs {
    private let keys: KeyRing
    /// Access tokens only: a resource presents the same one again and again.
    private let cache = VerifiedTokenCache<any Sendable>()

    package init(keys: KeyRing) { self.keys = keys }

    package func sign(
        as kind: JWTKind, for application: Application, _ payload: @Sendable (SigningAlgorithm) -> [UInt8]
    ) async throws -> String {
        let key = try await keys.signingKey(of: application.id, for: kind.purpose)
        let token = try key.token(payload(key.algorithm), type: kind.rawValue)
        guard token.utf8.count <= CompactJWS.longestOwn else { throw TokensError.oversizedToken }
        return token
    }

    package func claims<Claims: Decodable & Sendable>(
        of token: String, as kind: JWTKind, for application: Application
    ) async throws -> Claims? {
        guard token.utf8.count <= CompactJWS.longestOwn else { throw AccountsError.invalidToken }
        let cacheKey = VerifiedTokenCache<any Sendable>.Key(application: application.id, token: token)
        if kind == .accessToken, let entry = cache[cacheKey], let claims = entry.claims as? Claims,
            try await keys.keys(of: application.id).publishes(entry.kid)
        {
            return claims
        }
        guard let jws = CompactJWS(token), let kid = JWTHeader.kid(of: jws.header, type: kind.rawValue) else {
            throw AccountsError.invalidToken
        }
        guard let key = try await keys.key(kid, for: kind.purpose, of: application.id) else { return nil }
        let header = JWTHeader.encode(key.algorithm, kid: key.kid, type: kind.rawValue)
        guard jws.header.elementsEqual(header.utf8), key.isValid(jws.signature, for: jws.signingInput),
            let claims = try? JSONDecoder().decode(Claims.self, from: Data(jws.payload))
        else { throw AccountsError.invalidToken }
        if kind == .accessToken { cache.insert(.init(kid: kid, claims: claims), for: cacheKey) }
        return claims
    }
}
