import Foundation
import ProviderKit
import Testing

/// Session bearers: what clients without refresh tokens send with each call.
struct SessionBearerTests {
    private func with(
        _ body: @Sendable @escaping (TestServer, TimeTrackerApp, String) async throws -> Void
    ) async throws {
        try await TestServer.with(
            application: TimeTrackerApp.configuration("session: { idle: 10d, lifetime: 30d }"),
            providers: "scripted: {}"
        ) { server in
            let app = TimeTrackerApp(api: APIClient(server))
            let bearer = try await app.signIn(.somebody("ada", email: "ada@example.com")).accessToken
            #expect(bearer.hasPrefix("ghs_") && bearer.utf8.count == 47)
            try await body(server, app, bearer)
        }
    }

    private static func status(_ api: APIClient, _ path: String, _ bearer: String) async throws -> Int {
        Int(try await api.get(path, bearer: bearer).status)
    }

    @Test func `a bearer works wherever an access token does, but renews nothing`() async throws {
        try await with { server, app, bearer in
            #expect(try await app.me(bearer).status == 200)
            #expect(try await Self.status(app.api, "/auth/me", bearer) == 200)
            let listed = try await app.api.get("/auth/sessions", bearer: bearer)
            let sessions = listed["sessions"].array ?? []
            #expect(sessions.count == 1 && sessions.first?["current"] == true, "\(listed.text)")
            let refresh = try await app.api.post("/auth/refresh", ["refreshToken": .string(bearer)])
            #expect(refresh.status == 401 && refresh.code == "INVALID_REFRESH_TOKEN", "\(refresh.text)")
            for wrong in [String(bearer.dropFirst(4)), bearer + "A", "ghs_" + String(repeating: "A", count: 43)] {
                #expect(try await Self.status(app.api, "/auth/me", wrong) == 401, "\(wrong)")
            }
            #expect(try await Self.status(app.api, "/auth/me?access_token=\(bearer)", "x") == 401)
            // The dump has its hash alone.
            let dump = try await server.dump()
            #expect(!dump.contains(bearer) && !dump.contains(bearer.dropFirst(4)))
        }
    }

    @Test func `a bearer that ends at one replica is refused by the other at once`() async throws {
        try await with { server, app, bearer in
            let configuration = TimeTrackerApp.configuration("session: { idle: 10d, lifetime: 30d }")
            try await TestServer.with(
                database: server.databaseURL, application: configuration, providers: "scripted: {}"
            ) { replica in
                let other = APIClient(replica)
                #expect(try await Self.status(other, "/auth/me", bearer) == 200)
                let logouts = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 1...20 { group.addTask { Int(try await app.logout(bearer).status) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(logouts.allSatisfy { $0 == 200 }, "\(logouts)")
                #expect(try await Self.status(other, "/auth/me", bearer) == 401)
                let ended = try await server.count("SELECT count(*) FROM audit_events WHERE event = 'session.ended'")
                #expect(ended == 1)
            }
        }
    }

    @Test func `a bearer that is not used ends, and a use is written at most once in a tenth of that`() async throws {
        try await with { server, app, bearer in
            let used: StaticString = "SELECT count(*) FROM session_bearers WHERE used_at > now() - interval '1 hour'"
            try await server.execute("UPDATE session_bearers SET used_at = now() - interval '23 hours'")
            #expect(try await app.me(bearer).status == 200)
            #expect(try await server.count(used) == 0)
            try await server.execute("UPDATE session_bearers SET used_at = now() - interval '25 hours'")
            #expect(try await app.me(bearer).status == 200)
            #expect(try await server.count(used) == 1)
            try await server.execute("UPDATE session_bearers SET idle_until = now()")
            #expect(try await app.me(bearer).status == 401)
            let live = try await app.api.get("/auth/sessions", bearer: app.signIn(.somebody("ada")).accessToken)
            #expect(live["sessions"].array?.count == 1, "\(live.text)")
        }
    }

    @Test func `a bearer ends with its session's time, account and application`() async throws {
        let ends: [StaticString] = [
            "UPDATE sessions SET expires_at = now()", "UPDATE accounts SET disabled_at = now()",
            "UPDATE accounts SET deleted_at = now(), purge_after = now()",
        ]
        for end in ends {
            try await with { server, app, bearer in
                try await server.execute(end)
                #expect(try await app.me(bearer).status == 401, "\(end)")
            }
        }
    }
}
