import Foundation
import GatehouseTesting
import ProviderKit

/// An issuer whose codes and tokens all belong to the subject `u-1`.
struct FakeIssuer {
    static let url = "https://issuer.example"

    let now = Date(timeIntervalSince1970: 1_800_000_000)
    let authority: TestAuthority
    let service = ScriptedService()

    init() throws {
        authority = try TestAuthority(keyID: "issuer-1")
        let (url, keys) = (Self.url, authority.keySet)
        service.answer(url + "/.well-known/openid-configuration") { _ in
            .json([
                "issuer": .string(url), "authorization_endpoint": .string(url + "/authorize"),
                "token_endpoint": .string(url + "/token"), "jwks_uri": .string(url + "/keys"),
                "userinfo_endpoint": .string(url + "/userinfo"), "revocation_endpoint": .string(url + "/revoke"),
                "id_token_signing_alg_values_supported": ["ES256"],
            ])
        }
        service.answer(url + "/keys") { _ in .json(keys) }
        service.answer(url + "/userinfo") { request in
            guard request.headers["Authorization"] == "Bearer a.1" else { return .json([:], status: 401) }
            return .json(["sub": "u-1", "name": "Ada Lovelace", "email": "ada@example.com", "email_verified": true])
        }
        service.answer(url + "/revoke") { request in
            request.form?["token"] == nil ? .json(["error": "invalid_request"], status: 400) : .json([:])
        }
        // The codes, by the nonce in their tokens.
        let nonce = ProviderConformance.flow.nonce
        let tokens = try ["c.1": nonce, "c.other": "another flow's"].mapValues { nonce in
            JSONValue.string(try token(["nonce": .string(nonce)]))
        }
        service.answer(url + "/token") { request in
            guard let code = request.form?["code"], request.form?["code_verifier"] != nil else {
                return .json(["error": "invalid_request"], status: 400)
            }
            if code == "c.bare" { return .json(["access_token": "a.1", "token_type": "Bearer"]) }
            guard let token = tokens[code] else { return .json(["error": "invalid_grant"], status: 400) }
            return .json([
                "id_token": token, "access_token": "a.1", "refresh_token": "r.1", "token_type": "Bearer",
            ])
        }
    }

    func claims(_ changes: [String: JSONValue] = [:]) -> [String: JSONValue] {
        let now = Int64(now.timeIntervalSince1970)
        let claims: [String: JSONValue] = [
            "iss": .string(Self.url), "aud": "client", "sub": "u-1", "iat": .integer(now),
            "exp": .integer(now + 600), "auth_time": .integer(now - 60), "email": "Ada@example.com",
            "email_verified": true,
        ]
        return claims.merging(changes) { $1 }.filter { !$1.isNull }
    }

    func token(_ changes: [String: JSONValue] = [:]) throws -> String { try authority.token(claims(changes)) }

    /// Makes proofs that every provider with this issuer accepts, and some that every one refuses.
    func fixtures(settings: [String: JSONValue]) throws -> ProviderFixtures {
        var fixtures = ProviderFixtures(settings: settings, service: service, now: now)
        fixtures.brokenSettings = [
            BrokenSettings(["clientID": ""], blames: "clientID"),
            BrokenSettings(["nonce": "sometimes"], blames: "nonce"),
            BrokenSettings(["claims": ["providerUid": .null]], blames: "claims"),
        ]
        let withNonce = try token(["nonce": "n"])
        let proofs: [ProviderProof] = [
            .callback(["code": "c.1"]), .native(NativeToken(idToken: try token())),
            .native(NativeToken(idToken: withNonce, nonce: "n")),
            .native(NativeToken(idToken: try token(["email": .null]), accessToken: "a.1")),
            .native(NativeToken(idToken: try token(["aud": "ios"]))),
        ]
        fixtures.proofs = proofs.map { GoodProof($0, of: "u-1", offline: .unavailable) }
        fixtures.badProofs = try authority.attacks(on: claims(), now: now).map { name, token in
            (name, .native(NativeToken(idToken: token)))
        }
        fixtures.badProofs += [
            ("no code", .callback([:])), ("an unknown code", .callback(["code": "c.2"])),
            ("a code of another flow", .callback(["code": "c.other"])),
            ("a code without an ID token", .callback(["code": "c.bare"])),
            ("another issuer's redirect", .callback(["code": "c.1", "iss": "https://stranger.example"])),
            ("no subject", .native(NativeToken(idToken: try token(["sub": ""])))),
            ("an event", .native(NativeToken(idToken: try token(["events": ["https://issuer.example/event": [:]]])))),
            ("another nonce", .native(NativeToken(idToken: withNonce, nonce: "m"))),
        ]
        // The issuer may sign them for the same audience.
        for type in ["logout+jwt", "application/at+JWT"] {
            let token = try authority.token(claims(), header: ["typ": .string(type)])
            fixtures.badProofs.append((type, .native(NativeToken(idToken: token))))
        }
        fixtures.tokens = ProviderTokens(refreshToken: "r.1", accessToken: "a.1")
        return fixtures
    }
}
