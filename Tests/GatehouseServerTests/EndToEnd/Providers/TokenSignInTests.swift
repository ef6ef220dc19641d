import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

/// Sign-in with custom tokens and through mobile networks.
struct TokenSignInTests {
    private func claims(_ more: [String: JSONValue] = [:]) -> [String: JSONValue] {
        let now = Int64(Date().timeIntervalSince1970)
        let standard: [String: JSONValue] = [
            "iss": "https://legacy.example", "aud": "demo", "sub": "42", "iat": .integer(now),
            "exp": .integer(now + 200), "jti": .string(UUID().uuidString),
        ]
        return standard.merging(more) { $1 }
    }

    @Test func `a custom token signs in once, and its address is not trusted by default`() async throws {
        let authority = try TestAuthority()
        let keys = authority.keySetText.replacing("\"", with: "\\\"")
        try await TestServer.with(
            providers: """
                custom: { kind: custom-token, issuer: "https://legacy.example", audience: demo, jwks: "\(keys)", \
                algorithms: [ES256], claims: { displayName: profile.name }, expose: [plan] }
                """
        ) { server in
            let client = APIClient(server)
            @Sendable func present(_ token: String) async throws -> APIClient.Answer {
                try await client.post("/auth/custom", ["token": .string(token)])
            }
            let token = try authority.token(
                claims(["profile": ["name": "Ada"], "email": "ada@example.com", "email_verified": true]))
            let answers = try await atOnce(20) { try await present(token) }
            let answer = try #require(answers.first { $0.status == 200 }, "\(answers.map(\.text))")
            #expect(answers.count { $0.status == 200 } == 1 && answers.count { $0.code == "INVALID_TOKEN" } == 19)
            #expect(answer["auth"]["provider"] == "custom" && answer["auth"]["providerUid"] == "42")
            #expect(answer["user"]["displayName"] == "Ada")
            #expect(answer["user"]["emailVerified"] == false, "trustEmail is off unless it is said")

            for (name, token) in try authority.attacks(on: claims(), now: Date()) {
                expectError(try await present(token), 401, "INVALID_TOKEN", name)
            }
            let old = Int64(Date().timeIntervalSince1970) - 400
            for (name, more) in [
                ("no jti", ["jti": .null]), ("no subject", ["sub": ""]), ("too old", ["iat": .integer(old)]),
            ] as [(String, [String: JSONValue])] {
                expectError(
                    try await present(authority.token(claims(more).filter { !$0.value.isNull })), 401,
                    "INVALID_TOKEN", name)
            }
            expectError(try await client.post("/auth/custom"), 400, "MISSING_PARAMETER")
        }
    }

    @Test func `a gateway's header counts only from the gateway`() async throws {
        try await TestServer.with(
            server: "development: true, trustedProxies: [127.0.0.1]",
            providers: """
                carrier: { kind: mobile-network, gateways: [127.0.0.1], header: X-MSISDN }
                elsewhere: { kind: mobile-network, gateways: [10.1.0.0/16], header: X-MSISDN }
                """
        ) { server in
            let client = APIClient(server)
            func call(_ provider: String, _ headers: HTTPHeaders) async throws -> APIClient.Answer {
                try await client.post(
                    "/auth/mobile-network", ["provider": .string(provider)], headers: headers)
            }
            let answer = try await call("carrier", ["X-MSISDN": "33612345678"])
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer["user"]["phone"] == "+33612345678" && answer["user"]["phoneVerified"] == true)
            #expect(answer["auth"]["providerUid"] == "+33612345678")
            // The proxy is trusted to state the client's address, but it is not a configured gateway.
            let spoofed = try await call("elsewhere", ["X-MSISDN": "33612345678", "X-Forwarded-For": "10.1.2.3"])
            expectError(spoofed, 400, "MISSING_PARAMETER")
            expectRefusal(try await call("carrier", ["X-MSISDN": "not a number"]))
            expectError(try await call("carrier", [:]), 400, "MISSING_PARAMETER")
        }
    }

    @Test func `an operator's assertion is fresh, for this application, and used once`() async throws {
        try await UpstreamServer.with { upstream in
            let authority = try TestAuthority()
            upstream.service.answer(upstream.url + "/keys") { _ in .json(authority.keySet) }
            try await TestServer.with(
                providers: """
                    carrier: { kind: mobile-network, issuer: "https://operator.example", jwksURL: "\(upstream.url)/keys" }
                    """
            ) { server in
                let client = APIClient(server)
                let base = claims(["iss": "https://operator.example", "phone_number": "+4915112345678"])
                func present(_ more: [String: JSONValue]) async throws -> APIClient.Answer {
                    let token = try authority.token(base.merging(more) { $1 }.filter { !$0.value.isNull })
                    return try await client.post("/auth/mobile-network", ["assertion": .string(token)])
                }
                let now = Int64(Date().timeIntervalSince1970)
                for (name, more) in [
                    ("too long", ["exp": .integer(now + 400)]), ("other audience", ["aud": "photos"]),
                    ("no jti", ["jti": .null]), ("national", ["phone_number": "015112345678"]),
                    ("no number", ["phone_number": .null]),
                ] as [(String, [String: JSONValue])] {
                    expectError(try await present(more), 401, "INVALID_TOKEN", name)
                }
                let answer = try await present([:])
                #expect(answer["user"]["phone"] == "+4915112345678", "\(answer.text)")
                expectError(try await present([:]), 401, "INVALID_TOKEN", "again")
            }
        }
    }
}
