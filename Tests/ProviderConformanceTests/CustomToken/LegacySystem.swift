import CustomTokenProvider
import Foundation
import GatehouseTesting
import ProviderKit

/// A system whose tokens people sign in with.
struct LegacySystem {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    let authority: TestAuthority
    let service = ScriptedService()

    init() throws {
        authority = try TestAuthority(.es256, keyID: "legacy-1")
        let keys = authority.keySet
        service.answer("https://legacy.example/keys") { _ in .json(keys) }
    }

    var settings: [String: JSONValue] {
        [
            "issuer": "https://legacy.example", "audience": "demo", "algorithms": ["ES256", "EdDSA"],
            "jwks": .string(authority.keySetText),
        ]
    }

    func claims(_ changes: [String: JSONValue] = [:]) -> [String: JSONValue] {
        let now = Int64(now.timeIntervalSince1970)
        let claims: [String: JSONValue] = [
            "iss": "https://legacy.example", "aud": "demo", "sub": "u-1", "iat": .integer(now),
            "exp": .integer(now + 120), "jti": "j-1", "email": "ada@example.com", "email_verified": true,
            "name": "Ada",
        ]
        return claims.merging(changes) { $1 }.filter { !$1.isNull }
    }

    func verdict(
        on changes: [String: JSONValue] = [:], settings more: [String: JSONValue] = [:]
    ) async throws -> VerifiedIdentity {
        let provider = try CustomTokenProvider.made(
            of: settings.merging(more) { $1 }, service: service, now: now)
        return try await provider.verify(body: ["token": .string(authority.token(claims(changes)))])
    }
}
