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
