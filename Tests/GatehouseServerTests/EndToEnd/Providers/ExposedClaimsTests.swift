import Accounts
import Foundation
import GatehouseTesting
import ProviderKit
import Testing

/// Claims of a provider in `auth` and in access tokens.
struct ExposedClaimsTests {
    private func with(
        expose: String, _ body: @Sendable @escaping (APIClient, TestAuthority) async throws -> Void
    ) async throws {
        let authority = try TestAuthority()
        let keys = authority.keySetText.replacing("\"", with: "\\\"")
        try await TestServer.with(
            providers: """
                custom: { kind: custom-token, issuer: "https://legacy.example", audience: demo, jwks: "\(keys)", \
                algorithms: [ES256], expose: \(expose) }
                """
        ) { server in
            try await body(APIClient(server), authority)
        }
    }

    private func claims(_ more: [String: JSONValue] = [:]) -> [String: JSONValue] {
        let now = Int64(Date().timeIntervalSince1970)
        let standard: [String: JSONValue] = [
            "iss": "https://legacy.example", "aud": "demo", "sub": "42", "iat": .integer(now),
            "exp": .integer(now + 200), "jti": .string(UUID().uuidString),
        ]
        return standard.merging(more) { $1 }
    }

    @Test func `any claim is exposed under its name in auth and each access token`() async throws {
        try await with(expose: "[role, name, given_name, org.team, groups]") { client, authority in
            let token = try authority.token(
                claims([
                    "role": "admin", "name": "Ada Lovelace", "given_name": "Ada", "org": ["team": "red"],
                    "groups": ["a", 1], "hidden": true,
                ]))
            let answer = try await client.post("/auth/custom", ["token": .string(token)])
            #expect(answer.status == 200, "\(answer.text)")
            let refreshed = try await client.refresh(answer["refreshToken"].string ?? "")
            let tokens = try [answer, refreshed].map { try DecodedToken(try #require($0["accessToken"].string)).claims }
            for shown in [answer["auth"]] + tokens {
                #expect(shown["role"] == "admin" && shown["name"] == "Ada Lovelace" && shown["given_name"] == "Ada")
                #expect(shown["org.team"] == "red" && shown["groups"] == ["a", 1] && shown["hidden"] == .null)
            }
        }
    }

    /// An access token with all of these claims would exceed the maximum length.
    @Test func `claims that do not fit are left out, in the order of the configuration`() async throws {
        try await with(expose: "[a, b, c, d, e, deep, odd, small]") { client, authority in
            let large = JSONValue.string(String(repeating: "ü", count: 900))
            let deep = (0..<12).reduce(JSONValue.string("x")) { value, _ in ["y": value] }
            let odd: JSONValue = [
                .number(1e300), .number(.leastNonzeroMagnitude), .integer(.max), .integer(.min), .number(1.5),
            ]
            let more: [String: JSONValue] = [
                "sub": .string(String(repeating: "\u{1}", count: 255)), "a": large, "b": large, "c": large, "d": large,
                "e": .string(String(repeating: "e", count: 4000)), "deep": deep, "odd": odd, "small": "s",
            ]
            for _ in 1...2 {
                let token = try authority.token(claims(more))
                let answer = try await client.post("/auth/custom", ["token": .string(token)])
                try #require(answer.status == 200, "\(answer.text)")
                let bearer = try #require(answer["accessToken"].string)
                let shown = try DecodedToken(bearer).claims
                #expect(shown["a"] == large && shown["deep"] == deep && shown["small"] == "s")
                #expect(shown["odd"] == odd, "\(shown["odd"])")
                #expect(["b", "c", "d", "e"].allSatisfy { shown[$0].isNull })
                #expect(try await client.get("/auth/me", bearer: bearer).status == 200)
                let refreshed = try await client.refresh(answer["refreshToken"].string ?? "")
                #expect(refreshed.status == 200, "\(refreshed.text)")
            }
        }
    }

    @Test(arguments: [#""\u0000""#, #""\ud800""#, #"{"\u0000":1}"#, "1e999", "NaN", "\"\u{0}\""])
    func `JSON that cannot be stored is refused, never a server error`(value: String) async throws {
        try await with(expose: "[role]") { client, authority in
            let now = Int(Date().timeIntervalSince1970)
            let payload = """
                {"iss":"https://legacy.example","aud":"demo","sub":"42","iat":\(now),"exp":\(now + 200),\
                "jti":"\(UUID().uuidString)","role":\(value)}
                """
            let answer = try await client.post(
                "/auth/custom", ["token": .string(authority.token(payload: Data(payload.utf8)))])
            expectError(answer, 401, "INVALID_TOKEN", value)
        }
    }

    @Test func `claims of the server's own cannot be exposed`() async throws {
        try await with(expose: "[role]") { client, authority in
            let token = try authority.token(claims(["role": "admin", "name": "Ada"]))
            let answer = try await client.post("/auth/custom", ["token": .string(token)])
            let claims = try DecodedToken(try #require(answer["accessToken"].string)).claims
            let names = claims.keys.union(answer["auth"].keys).subtracting(["role"])
            #expect(names.isSubset(of: ExposedClaims.reserved), "\(names.subtracting(ExposedClaims.reserved))")
        }
    }
}
