import AppleProvider
import Foundation
import GatehouseTesting
import ProviderKit

/// A fake of Apple's endpoints.
struct FakeApple {
    static let url = "https://apple.example"
    /// All tests share one key, because generating an RSA key is slow.
    private static let authority = Result { try TestAuthority(.rs256, keyID: "apple-1") }
    private static let clientKey = Result { try TestAuthority(.es256) }

    let now = Date(timeIntervalSince1970: 1_800_000_000)
    let authority: TestAuthority
    let clientKey: TestAuthority
    let service = ScriptedService()

    init() throws {
        authority = try Self.authority.get()
        clientKey = try Self.clientKey.get()
        let keys = authority.keySet
        service.answer(Self.url + "/auth/keys") { _ in .json(keys) }
        service.answer(Self.url + "/auth/revoke") { request in
            request.form?["token"] == "r.1" ? .json([:]) : .json(["error": "invalid_request"], status: 400)
        }
        give([
            "refresh_token": "r.1", "id_token": .string(try token(["nonce": .string(ProviderConformance.flow.nonce)])),
        ])
    }

    /// Sets the response to the code `c.1`.
    func give(_ answer: JSONValue) {
        service.answer(Self.url + "/auth/token") { request in
            request.form?["code"] == "c.1" ? .json(answer) : .json(["error": "invalid_grant"], status: 400)
        }
    }

    var settings: [String: JSONValue] {
        [
            "clientIDs": ["net.example.app", "net.example.web"], "webClientID": "net.example.web", "teamID": "TEAM",
            "keyID": "KEY", "privateKey": .string(clientKey.privateKeyPEM), "baseURL": .string(Self.url + "/"),
        ]
    }

    func claims(_ changes: [String: JSONValue] = [:]) -> [String: JSONValue] {
        let now = Int64(now.timeIntervalSince1970)
        let claims: [String: JSONValue] = [
            "iss": .string(Self.url), "aud": "net.example.web", "sub": "001.abc", "iat": .integer(now),
            "exp": .integer(now + 600), "email": "Ada@Example.com", "email_verified": "true",
        ]
        return claims.merging(changes) { $1 }.filter { !$1.isNull }
    }

    func token(_ changes: [String: JSONValue] = [:]) throws -> String { try authority.token(claims(changes)) }

    func event(
        _ type: JSONValue, _ changes: [String: JSONValue] = [:], more: [String: JSONValue] = [:], isText: Bool = true
    ) throws -> String {
        let event: [String: JSONValue] = ["type": type, "sub": "001.abc", "event_time": 1_799_999_990_123]
        let members = JSONValue.object(event.merging(more) { $1 }.filter { !$1.isNull })
        let text = String(decoding: try JSONEncoder().encode(members), as: UTF8.self)
        let now = Int64(now.timeIntervalSince1970)
        let claims: [String: JSONValue] = [
            "iss": .string(Self.url), "aud": "net.example.app", "iat": .integer(now), "jti": "event-1",
            "events": isText ? .string(text) : members,
        ]
        return try authority.token(claims.merging(changes) { $1 }.filter { !$1.isNull })
    }

    /// Makes a provider with the settings that a test needs.
    func provider(
        clientIDs: [String] = ["net.example.app", "net.example.web"], withKey: Bool = true, nonce: NonceRule? = nil
    ) throws -> AppleProvider {
        var settings: [String: JSONValue] = ["clientIDs": .array(clientIDs.map(JSONValue.string))]
        settings["baseURL"] = .string(Self.url)
        settings["webClientID"] = .string(clientIDs.last ?? "")
        if withKey {
            settings["teamID"] = "TEAM"
            settings["keyID"] = "KEY"
            settings["privateKey"] = .string(clientKey.privateKeyPEM)
        }
        settings["nonce"] = nonce.map { .string($0.rawValue) }
        return try AppleProvider.made(of: settings, service: service, now: now)
    }

    /// Signs in with a request in the form that an app sends.
    func signIn(
        _ token: String, at provider: AppleProvider, with more: [String: JSONValue] = [:]
    ) async throws -> VerifiedIdentity {
        try await provider.verify(body: more.merging(["identityToken": .string(token)]) { $1 })
    }
}
