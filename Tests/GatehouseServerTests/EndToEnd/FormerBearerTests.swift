import ProviderKit
import Testing

@testable import GatehouseServer

/// Logging out with a refresh token, when the access token has expired or is invalid for another reason.
struct FormerBearerTests {
    private func logOut(
        _ client: APIClient, _ bearer: String, _ refreshToken: String, _ more: [String: JSONValue] = [:]
    ) async throws -> APIClient.Answer {
        let body: [String: JSONValue] = ["refreshToken": .string(refreshToken)]
        return try await client.post("/auth/logout", .object(body.merging(more) { $1 }), bearer: bearer)
    }

    /// An access token with another signature.
    private func damaged(_ token: String) -> String {
        let parts = token.split(separator: ".")
        return "\(parts[0]).\(parts[1]).\(parts[2].hasPrefix("A") ? "B" : "A")\(parts[2].dropFirst())"
    }

    @Test func `a client whose access token has expired logs out, once`() async throws {
        try await TestServer.with(tokens: "algorithm: ES256, accessLifetime: 1") { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            try await DecodedToken(guest.accessToken).waitUntilExpired()
            expectError(try await client.post("/auth/logout", bearer: guest.accessToken), 401, "INVALID_TOKEN")
            #expect(try await server.liveSessions(of: guest.uid) == 1)
            #expect(try await logOut(client, guest.accessToken, guest.refreshToken).status == 204)
            #expect(try await server.liveSessions(of: guest.uid) == 0)
            expectError(try await client.refresh(guest.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            expectError(
                try await logOut(client, guest.accessToken, guest.refreshToken), 401, "INVALID_TOKEN", "both dead")
        }
    }

    @Test func `only the refresh token's own session ends, and none of another account`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let ada = try await client.register(at: server)
            let other = try Person(try await client.login(ada.email), email: "", password: "")
            let bob = try await client.guest()
            let dead = damaged(ada.accessToken)
            expectError(try await client.get("/auth/me", bearer: dead), 401, "INVALID_TOKEN")
            expectError(try await logOut(client, dead, bob.refreshToken), 401, "INVALID_TOKEN", "another account's")
            for scope in ["global", "others"] {
                let answer = try await logOut(client, dead, ada.refreshToken, ["scope": .string(scope)])
                expectError(answer, 401, "INVALID_TOKEN", scope)
            }
            for token in ["", "x", ada.accessToken, String(repeating: "A", count: 43)] {
                expectError(try await logOut(client, dead, token), 401, "INVALID_TOKEN", token)
            }
            let body: JSONValue = ["refreshToken": .string(ada.refreshToken)]
            expectError(try await client.post("/auth/logout", body), 401, "INVALID_TOKEN", "without an access token")
            #expect(try await server.liveSessions(of: ada.uid) == 2)
            #expect(try await server.liveSessions(of: bob.uid) == 1)

            #expect(try await logOut(client, dead, ada.refreshToken).status == 204)
            expectError(try await client.get("/auth/me", bearer: ada.accessToken), 401, "INVALID_TOKEN")
            #expect(try await client.get("/auth/me", bearer: other.accessToken).status == 200)
            // An access token that names no account.
            #expect(try await logOut(client, "x", bob.refreshToken).status == 204)
            #expect(try await server.liveSessions(of: bob.uid) == 0)
        }
    }

    @Test func `an access token with a number at which Foundation's decoder traps names no account`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            let number = "1" + String(repeating: "0", count: 170) + "e-153"
            let claims = #"{"iss":"x","sub":"x","jti":"x","aud":"x","iat":\#(number)}"#
            let parts = guest.accessToken.split(separator: ".")
            let forged = "\(parts[0]).\(Digest.base64URL(Array(claims.utf8))).\(parts[2])"
            #expect(try await logOut(client, forged, guest.refreshToken).status == 204)
        }
    }

    @Test func `of twenty calls at once one ends the session`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            let dead = damaged(guest.accessToken)
            let answers = try await atOnce(20) { try await logOut(client, dead, guest.refreshToken) }
            #expect(answers.count { $0.status == 204 } == 1)
            #expect(answers.count { $0.status == 401 && $0.code == "INVALID_TOKEN" } == 19)
            #expect(try await server.liveSessions(of: guest.uid) == 0)
        }
    }

    @Test func `such calls count toward the limit of logouts`() async throws {
        try await TestServer.with(rateLimits: "{ logout: 2/min }") { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            for _ in 1...2 { expectError(try await logOut(client, "x", "x"), 401, "INVALID_TOKEN") }
            expectError(try await logOut(client, "x", guest.refreshToken), 429, "RATE_LIMITED")
            #expect(try await server.liveSessions(of: guest.uid) == 1)
        }
    }
}
