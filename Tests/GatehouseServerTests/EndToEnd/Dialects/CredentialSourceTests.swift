import Foundation
import NIOHTTP1
import ProviderKit
import Testing

/// Where requests may have their token.
struct CredentialSourceTests {
    @Test(arguments: ["/auth/me", "/api/v1/auth/me"])
    func `a token may be repeated, but two different ones are refused`(path: String) async throws {
        try await TestServer.with(application: TimeTrackerApp.configuration(), providers: "scripted: {}") { server in
            let client = APIClient(server)
            let (one, other) = (try await client.guest().accessToken, try await client.guest().accessToken)
            func status(_ values: [String], query: String = "") async throws -> Int {
                let headers = HTTPHeaders(values.map { ("authorization", $0) })
                return try await client.send(.GET, path + query, headers: headers).status
            }
            #expect(try await status(["Bearer \(one)"]) == 200)
            #expect(try await status(["Bearer \(one)", "Bearer \(one)"]) == 200)
            #expect(try await status(["Bearer \(one)", "Bearer \(other)"]) == 401)
            #expect(try await status(["Bearer \(one)", "Basic \(one)"]) == 401)
            for name in ["access_token", "token", "apiKey", "sessionKey"] {
                #expect(try await status([], query: "?\(name)=\(one)") == 401, "\(name)")
            }
        }
    }

    @Test(arguments: ["/api/users/me", "/api/v1/auth/check"])
    func `a proxy may have its own scheme beside a token in the app's field`(path: String) async throws {
        try await ImmichApp.with { server, app in
            let token = try await app.token(at: server)
            func status(_ authorization: [String], token: String? = token) async throws -> Int {
                var headers = HTTPHeaders(authorization.map { ("authorization", $0) })
                if let token { headers.add(name: "x-immich-user-token", value: token) }
                return try await app.api.send(.GET, path, headers: headers).status
            }
            let admitted = try await status([])
            for own in ["Basic abc", "basic YTpi", "Digest username=\"a\"", "Basic"] {
                #expect(try await status([own]) == admitted, "\(own)")
                #expect(try await status([own], token: nil) == 401, "\(own)")
                #expect(try await status([own], token: "ghs_x") == 401, "\(own)")
            }
            #expect(try await status(["Basic abc", "Bearer \(token)"]) == admitted)
            for malformed in ["Bearer", "Bearer ", "bearer", "Bearer\t\(token)", "Bearer,\(token)", "Bearer ghs_x"] {
                #expect(try await status([malformed]) == 401, "\(malformed)")
            }
            #expect(try await status(["Basic abc", "Bearer"]) == 401)
            #expect([200, 204].contains(admitted))
        }
    }

    @Test func `calls that need no token read none, so that two different ones do not matter`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            let two: HTTPHeaders = ["authorization": "Bearer one", "x-immich-user-token": "other"]
            #expect(try await app.call(.GET, "/server/ping", headers: two).status == 200)
            #expect(try await app.login(person.email, headers: two).status == 201)
            let refused = try await app.call(.GET, "/users/me", headers: two)
            expectImmich(refused, 401, "INVALID_TOKEN", "Invalid user token")
        }
    }

    @Test func `an empty field of an app's own has no token`() async throws {
        try await ImmichApp.with { server, app in
            let token = try await app.token(at: server)
            let headers: HTTPHeaders = ["authorization": "Bearer \(token)", "x-immich-user-token": ""]
            #expect(try await app.call(.GET, "/users/me", headers: headers).status == 200)
            #expect(try await app.call(.GET, "/users/me", headers: ["x-immich-user-token": ""]).status == 401)
        }
    }

    @Test func `where a token can only be in Authorization, another scheme is refused`() async throws {
        try await ImmichApp.with { server, app in
            let answer = try await app.api.send(
                .GET, "/api/v1/auth/me",
                headers: ["authorization": "Basic abc", "x-immich-user-token": try await app.token(at: server)])
            expectError(answer, 401, "INVALID_TOKEN")
        }
    }

    @Test func `a sign-out with two different tokens ends neither session`() async throws {
        try await TestServer.with(application: TimeTrackerApp.configuration(), providers: "scripted: {}") { server in
            let app = TimeTrackerApp(api: APIClient(server))
            let (one, other) = (try await app.signIn(.somebody()), try await app.signIn(.somebody()))
            let refused = try await app.api.send(
                .POST, "/auth/logout",
                headers: ["authorization": "Bearer \(one.accessToken)", "Authorization": "Bearer \(other.accessToken)"])
            expectFailure(refused, 401, "Unauthorized")
            for session in [one, other] {
                #expect(try await app.me(session.accessToken).status == 200)
            }
        }
    }
}
