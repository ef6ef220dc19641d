import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Authentication with the `Authorization` header.
struct BearerTests {
    @Test func `only a valid token of an open session is accepted`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let token = try await client.guest().accessToken
            let parts = token.split(separator: ".").map(String.init)
            let unsigned = Data(#"{"alg":"none","typ":"JWT"}"#.utf8).base64EncodedString()
            let tampered = String(parts[1].dropLast()) + (parts[1].hasSuffix("A") ? "B" : "A")
            let refused = [
                "", " ", "x", "Bearer", "Bearer ", "Bearer x.y.z", "Basic \(token)", token,
                "Bearer \(token).", "Bearer \(token)x", "Bearer \(parts[0]).\(parts[1]).",
                "Bearer \(parts[0]).\(parts[1])", "Bearer \(parts[0]).\(tampered).\(parts[2])",
                "Bearer \(unsigned).\(parts[1]).", "Bearer " + String(repeating: "a", count: 20_000),
                "Bearer  \(token)", "Bearer \u{FF}\(token)",
            ]
            for header in refused {
                let answer = try await client.send(.GET, "/api/v1/auth/me", headers: ["authorization": header])
                expectError(answer, 401, "INVALID_TOKEN", String(header.prefix(40)))
                #expect(answer.headers.first(name: "www-authenticate")?.hasPrefix("Bearer") == true)
            }
            expectError(try await client.get("/auth/me"), 401, "INVALID_TOKEN")
            for header in ["Bearer \(token)", "bearer \(token)", "BEARER \(token)"] {
                #expect(
                    try await client.send(.GET, "/api/v1/auth/me", headers: ["authorization": header]).status == 200)
            }
        }
    }

    @Test func `a call that needs a bearer refuses a request without one`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let calls: [(HTTPMethod, String)] = [
                (.POST, "/auth/logout"), (.GET, "/auth/me"), (.PATCH, "/auth/me"), (.GET, "/auth/sessions"),
                (.DELETE, "/auth/sessions/\(UUID())"), (.DELETE, "/auth/account"), (.PUT, "/auth/change-password"),
            ]
            for (method, path) in calls {
                let answer = try await client.send(method, "/api/v1" + path, raw: Array("{}".utf8))
                expectError(answer, 401, "INVALID_TOKEN", path)
            }
        }
    }

    @Test func `an access token ends with its time`() async throws {
        try await TestServer.with(tokens: "algorithm: ES256, accessLifetime: 1") { server in
            let client = APIClient(server)
            let session = try await client.post("/auth/anonymous")
            #expect(session["expiresIn"] == 1)
            let token = try #require(session["accessToken"].string)
            try await DecodedToken(token).waitUntilExpired()
            expectError(try await client.get("/auth/me", bearer: token), 401, "INVALID_TOKEN")
        }
    }

    @Test func `a session response has every documented field`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            _ = try await client.post(
                "/auth/register",
                ["email": .string(email), "password": .string(APIClient.password), "displayName": "John Doe"])
            let answer = try await client.verify(try await client.mailedToken(to: email, at: server))
            #expect(answer.status == 200)
            #expect(
                answer.json.keys == [
                    "accessToken", "tokenType", "expiresIn", "refreshToken", "isNewAccount", "user", "auth",
                ])
            #expect(answer["tokenType"] == "Bearer" && answer["expiresIn"] == 3600 && answer["isNewAccount"] == true)
            #expect(answer["refreshToken"].string?.utf8.count == 43)
            let user = answer["user"]
            #expect(
                user.keys == [
                    "id", "email", "emailVerified", "phone", "phoneVerified", "displayName", "isAnonymous",
                    "authProviders", "metadata", "roles", "claims", "createdAt", "updatedAt",
                ])
            #expect(user["roles"] == [] && user["claims"] == [:])
            #expect(user["email"].string == email && user["emailVerified"] == true)
            #expect(user["phone"] == .null && user["phoneVerified"] == false)
            #expect(user["displayName"] == "John Doe" && user["isAnonymous"] == false)
            #expect(user["authProviders"] == ["email"] && user["metadata"] == [:])
            for time in [user["createdAt"], user["updatedAt"]] {
                #expect(try #require(time.string).wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
            }
            let auth = answer["auth"]
            #expect(
                auth.keys.subtracting(["email"]) == [
                    "uid", "provider", "providerUid", "createdAt", "expires", "sessionExpires", "displayName",
                ])
            #expect(auth["uid"] == user["id"] && auth["provider"] == "email" && auth["displayName"] == "John Doe")
            let created = try #require(auth["createdAt"].integer)
            #expect(abs(Double(created) - Date().timeIntervalSince1970) < 60)
            let token = try DecodedToken(try #require(answer["accessToken"].string))
            #expect(auth["expires"] == token.claims["exp"])
            #expect(user["id"].string == user["id"].string?.lowercased())
            #expect(answer.headers.first(name: "cache-control") == "no-store")
        }
    }

    @Test func `a guest's answer shows what it lacks as null`() async throws {
        try await TestServer.with { server in
            let answer = try await APIClient(server).post("/auth/anonymous")
            for field in ["email", "phone", "displayName"] {
                #expect(answer["user"].keys.contains(field) && answer["user"][field] == .null, "\(field)")
            }
            #expect(answer["user"]["isAnonymous"] == true && answer["user"]["emailVerified"] == false)
            #expect(answer["user"]["authProviders"] == ["anonymous"] && answer["isNewAccount"] == true)
            #expect(answer["auth"].keys.contains("displayName") && answer["auth"]["displayName"] == .null)
        }
    }

    @Test(arguments: ["algorithm: ES256", "algorithm: EdDSA", "algorithm: RS256, rsaBits: 2048"])
    func `the access token has the documented claims and a published key`(tokens: String) async throws {
        try await TestServer.with(tokens: tokens + ", accessLifetime: 600") { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let answer = try await client.login(person.email)
            let token = try DecodedToken(try #require(answer["accessToken"].string))
            #expect(tokens.contains("algorithm: \(try #require(token.header["alg"].string))"))
            let claims = token.claims
            #expect(claims["iss"] == "http://127.0.0.1:1" && claims["aud"] == "demo")
            #expect(claims["sub"].string == person.uid && claims["uid"].string == person.uid)
            let issued = try #require(claims["iat"].integer)
            #expect(claims["exp"].integer == issued + 600 && answer["expiresIn"] == 600)
            #expect(abs(Double(issued) - Date().timeIntervalSince1970) < 60)
            let authenticated = try #require(claims["auth_time"].integer)
            #expect(abs(authenticated - issued) <= 1)
            #expect(claims["amr"] == ["pwd"] && claims["provider"] == "email")
            #expect(claims["providerUid"].string == person.email && claims["email"].string == person.email)
            #expect(claims["email_verified"] == true)
            #expect(claims["jti"].string.flatMap(UUID.init(uuidString:)) != nil)
            let sessions = try await client.get("/auth/sessions", bearer: token.text)
            let current = sessions["sessions"].array?.first { $0["current"] == true }
            #expect(current?["id"] == claims["sid"])
            let document = try await client.send(.GET, "/.well-known/jwks.json")
            #expect(
                try await token.isSigned(
                    byKeysOf: server, publishedAs: document.body, for: server.application()))
        }
    }

    @Test func `two tokens of one session differ in their jti`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            let first = try DecodedToken(guest.accessToken)
            let refreshed = try await client.refresh(guest.refreshToken)
            let second = try DecodedToken(try #require(refreshed["accessToken"].string))
            #expect(first.claims["jti"] != second.claims["jti"])
            #expect(first.claims["sid"] == second.claims["sid"])
        }
    }
}
