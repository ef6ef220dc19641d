package import Accounts
package import Foundation
import ProviderKit

/// Signs access tokens, and verifies those that this installation signed for the same application.
package struct AccessTokenCodec: AccessTokens {
    /// The tolerance, in seconds, for the clock of another replica being ahead of this one's.
    private static let leeway = 60

    private let keys: KeyRing
    private let time: any TimeSource
    private let cache = VerifiedTokenCache<AccessTokenClaims>()

    package init(keys: KeyRing, time: any TimeSource) { (self.keys, self.time) = (keys, time) }

    /// - Throws: `TokensError.noSigningKey`, `TokensError.oversizedToken`.
    package func sign(_ claims: AccessTokenClaims, for application: Application) async throws -> String {
        let key = try await keys.signingKey(of: application.id)
        let payload = Base64URL.encode(claims.payload)
        let input = key.header + [UInt8(ascii: ".")] + payload.utf8
        let signature = Base64URL.encode(try key.sign(input))
        let token = "\(String(decoding: input, as: UTF8.self)).\(signature)"
        guard token.utf8.count <= CompactJWS.longestOwn else { throw TokensError.oversizedToken }
        return token
    }

    package func verify(_ token: String, for application: Application) async throws -> AccessTokenClaims {
        guard token.utf8.count <= CompactJWS.longestOwn else { throw AccountsError.invalidToken }
        let cacheKey = VerifiedTokenCache<AccessTokenClaims>.Key(application: application.id, token: token)
        if let entry = cache[cacheKey], try await keys.keys(of: application.id).publishes(entry.kid) {
            try check(entry.claims, for: application)
            return entry.claims
        }
        let entry = try await authenticate(token, for: application)
        try check(entry.claims, for: application)
        cache.insert(entry, for: cacheKey)
        return entry.claims
    }

    package func unverifiedAccount(of token: String) -> UUID? {
        // Foundation's decoder traps at some numbers, which the check refuses.
        guard token.utf8.count <= CompactJWS.longestOwn, let jws = CompactJWS(token),
            (try? JSONText.check(jws.payload)) != nil,
            let payload = try? JSONDecoder().decode(AccessTokenPayload.self, from: Data(jws.payload))
        else { return nil }
        return payload.uid.flatMap(UUID.init)
    }

    /// Verifies the signature and decodes the claims; a token of an OpenID client needs the scope `account`.
    private func authenticate(
        _ token: String, for application: Application
    ) async throws -> VerifiedTokenCache<AccessTokenClaims>.Entry {
        guard let jws = CompactJWS(token) else { throw AccountsError.invalidToken }
        // It is the API's own, or else a client's.
        let type = JWTHeader.kid(of: jws.header) != nil ? JWTHeader.ownType : JWTKind.accessToken.rawValue
        guard let kid = JWTHeader.kid(of: jws.header, type: type),
            let key = try await keys.key(kid, for: .accessTokens, of: application.id),
            jws.header.elementsEqual(JWTHeader.encode(key.algorithm, kid: kid, type: type).utf8),
            key.isValid(jws.signature, for: jws.signingInput),
            let payload = try? JSONDecoder().decode(AccessTokenPayload.self, from: Data(jws.payload))
        else { throw AccountsError.invalidToken }
        guard payload.isForAccounts else {
            let isOurs =
                application.issuers.containsBytes(of: payload.iss)
                && payload.exp > Int(time.now().timeIntervalSince1970)
            throw isOurs ? AccountsError.insufficientScope : .invalidToken
        }
        guard let claims = payload.claims(for: application.audience) else { throw AccountsError.invalidToken }
        return VerifiedTokenCache<AccessTokenClaims>.Entry(kid: key.kid, claims: claims)
    }

    /// Checks what may have changed since the token was cached: the time and the application's configuration.
    private func check(_ claims: AccessTokenClaims, for application: Application) throws {
        let now = Int(time.now().timeIntervalSince1970)
        guard application.issuers.containsBytes(of: claims.issuer), claims.audience == application.audience,
            claims.expiresAt > now, claims.issuedAt <= now + Self.leeway
        else { throw AccountsError.invalidToken }
    }
}
