import Accounts
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Listing sessions and ending them.
struct SessionsTests {
    private func sessionID(_ person: Person) throws -> String {
        try #require(DecodedToken(person.accessToken).claims["sid"].string)
    }

    @Test func `the list shows each open session and marks the current one`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let body: JSONValue = ["email": .string(person.email), "password": .string(person.password)]
            _ = try await client.post("/auth/login", body, headers: ["x-device-name": "Kitchen", "user-agent": "curl"])
            let login = try await client.post(
                "/auth/login", body, headers: ["x-device-name": "", "user-agent": "Browser/1.0"])
            let asking = try Person(login, email: "", password: "")
            _ = try await client.guest()
            let answer = try await client.get("/auth/sessions", bearer: asking.accessToken)
            #expect(answer.status == 200 && answer.json.keys == ["sessions"])
            let sessions = try #require(answer["sessions"].array)
            #expect(sessions.count == 3)
            for session in sessions {
                #expect(
                    session.keys == [
                        "id", "device", "address", "createdAt", "lastSeenAt", "expiresAt", "current", "kind", "client",
                        "browser",
                    ])
                #expect(session["kind"] == "api" && session["client"] == .null && session["browser"] == .null)
                #expect(session["address"] == "127.0.0.1")
                #expect(session["current"].bool == (session["id"].string == (try sessionID(asking))))
            }
            #expect(Set(sessions.compactMap { $0["device"].string }).isSuperset(of: ["Kitchen", "Browser/1.0"]))
        }
    }

    @Test func `a session is ended by its id, and only by its own account`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let other = try Person(try await client.login(person.email), email: "", password: "")
            let stranger = try await client.guest()
            let foreign = [try sessionID(stranger), UUID().uuidString, "none", "%00", "*"]
            for id in foreign {
                expectError(
                    try await client.delete("/auth/sessions/\(id)", bearer: person.accessToken), 404,
                    "SESSION_NOT_FOUND", id)
            }
            #expect(try await client.get("/auth/me", bearer: stranger.accessToken).status == 200)
            let id = try sessionID(other)
            let elsewhere = try await APIClient(server, application: "photos").guest()
            expectError(
                try await APIClient(server, application: "photos").delete(
                    "/auth/sessions/\(id)", bearer: elsewhere.accessToken), 404, "SESSION_NOT_FOUND")
            #expect(try await client.delete("/auth/sessions/\(id)", bearer: person.accessToken).status == 204)
            expectError(try await client.get("/auth/me", bearer: other.accessToken), 401, "INVALID_TOKEN")
            expectError(try await client.refresh(other.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            expectError(
                try await client.delete("/auth/sessions/\(id)", bearer: person.accessToken), 404, "SESSION_NOT_FOUND")
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200)
        }
    }

    private struct Scope: Sendable {
        let scope: JSONValue
        /// Whether the logout ends the calling session and each of two others.
        let ended: [Bool]
    }

    @Test(arguments: [
        Scope(scope: .null, ended: [true, false, false]), Scope(scope: "local", ended: [true, false, false]),
        Scope(scope: "others", ended: [false, true, true]), Scope(scope: "global", ended: [true, true, true]),
    ])
    private func `a logout ends what its scope names`(_ logout: Scope) async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            var sessions = [person]
            for _ in 1...2 {
                sessions.append(try Person(try await client.login(person.email), email: "", password: ""))
            }
            let bystander = try await client.guest()
            let body: JSONValue = ["scope": logout.scope, "refreshToken": .string(person.refreshToken)]
            let answer = try await client.post("/auth/logout", body, bearer: person.accessToken)
            #expect(answer.status == 204 && answer.body.isEmpty)
            for (session, hasEnded) in zip(sessions, logout.ended) {
                let me = try await client.get("/auth/me", bearer: session.accessToken)
                #expect(me.status == (hasEnded ? 401 : 200), "\(logout.scope)")
                let refresh = try await client.refresh(session.refreshToken)
                #expect(refresh.status == (hasEnded ? 401 : 200), "\(logout.scope)")
            }
            #expect(try await client.get("/auth/me", bearer: bystander.accessToken).status == 200)
        }
    }

    @Test func `a logout with a refresh token ends its session too, if it is the principal's`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let other = try Person(try await client.login(person.email), email: "", password: "")
            let stranger = try await client.guest()
            let refused = try await client.post(
                "/auth/logout", ["refreshToken": .string(stranger.refreshToken)], bearer: person.accessToken)
            #expect(refused.status == 204)
            #expect(try await client.refresh(stranger.refreshToken).status == 200)
            let third = try Person(try await client.login(person.email), email: "", password: "")
            let answer = try await client.post(
                "/auth/logout", ["refreshToken": .string(third.refreshToken)], bearer: other.accessToken)
            #expect(answer.status == 204)
            for session in [other, third] {
                expectError(try await client.get("/auth/me", bearer: session.accessToken), 401, "INVALID_TOKEN")
            }
            expectError(try await client.post("/auth/logout", bearer: other.accessToken), 401, "INVALID_TOKEN")
        }
    }

    private static let lockAccount = Statement(.write, "SELECT uid FROM accounts WHERE uid = $1 FOR UPDATE")
    private static let open = Statement(
        .write,
        """
        INSERT INTO sessions (application_id, id, uid, identity_id, methods, expires_at)
        SELECT application_id, gen_random_uuid(), uid, identity_id, methods, expires_at FROM sessions WHERE uid = $1
        """)

    /// One of the account's sessions may have opened it, by a QR code.
    @Test(.needsOneNode) func `a session that is opened while a logout waits for the account ends, too`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let uid = Bind.uuid(UUID(uuidString: person.uid))
            let logout = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.lockAccount, uid)
                let logout = Task {
                    try await client.post("/auth/logout", ["scope": "global"], bearer: person.accessToken)
                }
                try await server.awaitBlocked(1)
                _ = try await transaction.execute(Self.open, uid)
                return logout
            }
            #expect(try await logout.value.status == 204)
            #expect(try await server.liveSessions(of: person.uid) == 0)
        }
    }
}
