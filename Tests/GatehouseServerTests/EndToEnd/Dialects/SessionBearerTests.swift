import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

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

    private static let lockBearers = Statement(.write, "SELECT FROM session_bearers FOR UPDATE")

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

    @Test func `a bearer is as recent as its sign-in`() async throws {
        try await with { server, app, bearer in
            let body: JSONValue = ["code": "unknown"]
            try await server.letPass(.seconds(600))
            for old in [
                try await app.api.delete("/auth/account", bearer: bearer),
                try await app.api.get("/auth/account/export", bearer: bearer),
                try await app.api.post("/auth/merge", body, bearer: bearer),
            ] { expectError(old, 403, "TOKEN_TOO_OLD") }
            #expect(try await app.me(bearer).status == 200, "other calls take it")
            let fresh = try await app.signIn(.somebody("ada", email: "ada@example.com")).accessToken
            #expect(try await app.api.delete("/auth/account", bearer: fresh).status == 204)
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
            let uses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...20 { group.addTask { Int(try await app.me(bearer).status) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(uses.allSatisfy { $0 == 200 }, "\(uses)")
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

    @Test func `a use is written once in a day and in a tenth of the idle time, and never past the session's end`()
        async throws
    {
        try await with { server, app, bearer in
            let end: StaticString = "SELECT count(*) FROM session_bearers WHERE idle_until = expires_at"
            let written: StaticString =
                "SELECT count(*) FROM session_bearers WHERE used_at > now() - interval '1 minute'"
            let cases: [(change: StaticString, count: Int)] = [
                ("UPDATE session_bearers SET idle = '100 days', used_at = now() - interval '23 hours'", 0),
                ("UPDATE session_bearers SET idle = '100 days', used_at = now() - interval '25 hours'", 1),
                ("UPDATE session_bearers SET idle = '10 hours', used_at = now() - interval '59 minutes'", 0),
                ("UPDATE session_bearers SET idle = '10 hours', used_at = now() - interval '61 minutes'", 1),
            ]
            for (change, count) in cases {
                try await server.execute(change)
                #expect(try await app.me(bearer).status == 200)
                #expect(try await server.count(written) == count, "\(change)")
                // 100 days are more than the session lasts.
                if count == 1, "\(change)".contains("100 days") { #expect(try await server.count(end) == 1) }
            }
            #expect(try await server.count(end) == 0)
        }
    }

    @Test(.needsOneNode) func `twenty uses at once after a day write one row`() async throws {
        try await with { server, app, bearer in
            try await server.backend.database.transaction {
                try await $0.script(
                    """
                    CREATE TABLE written (at timestamptz NOT NULL DEFAULT clock_timestamp());
                    CREATE FUNCTION note_write() RETURNS trigger LANGUAGE plpgsql AS
                        'BEGIN INSERT INTO written DEFAULT VALUES; RETURN NULL; END';
                    UPDATE session_bearers SET used_at = now() - interval '25 hours';
                    CREATE TRIGGER noting AFTER UPDATE ON session_bearers FOR EACH ROW EXECUTE FUNCTION note_write();
                    """)
            }
            // They have read that a write is due before any of them writes; those that share a connection wait as one.
            let three = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.lockBearers)
                let three = Task { try await atOnce(3) { try await app.me(bearer) } }
                try await server.awaitBlocked(1)
                return three
            }
            let answers = try await atOnce(17) { try await app.me(bearer) } + three.value
            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(try await server.count("SELECT count(*) FROM written") == 1)
        }
    }

    @Test func `the list shows the sooner end of a session, with a bearer and with an access token alone`()
        async throws
    {
        @Sendable func ends(_ app: TimeTrackerApp, _ token: String) async throws -> [TimeInterval] {
            let listed = try await app.api.get("/auth/sessions", bearer: token)
            let sessions = try #require(listed["sessions"].array, "\(listed.text)")
            return try sessions.map { session in
                let text = try #require(session["expiresAt"].string)
                let date = try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
                return (date.timeIntervalSinceNow / 86_400 * 10).rounded() / 10
            }
        }
        try await with { server, app, bearer in
            #expect(try await ends(app, bearer) == [10])
            try await server.execute("UPDATE session_bearers SET idle_until = expires_at")
            #expect(try await ends(app, bearer) == [30])
        }
        let configuration = TimeTrackerApp.configuration("session: access")
        try await TestServer.with(application: configuration, providers: "scripted: {}") { server in
            let app = TimeTrackerApp(api: APIClient(server))
            let first = try await app.signIn(.somebody("ada")).accessToken
            try await server.execute("UPDATE sessions SET expires_at = now() + interval '12 hours'")
            #expect(try await ends(app, first) == [0.5])
            let second = try await app.signIn(.somebody("ada")).accessToken
            #expect(try await ends(app, second) == [0, 0.5])
            try await server.execute(
                "UPDATE sessions SET expires_at = now() WHERE expires_at > now() + interval '11 hours'")
            #expect(try await ends(app, second) == [0])
        }
    }

    @Test func `a bearer whose end has come is swept, and the others are counted`() async throws {
        try await with { server, app, bearer in
            let other = try await app.signIn(.somebody("ada", email: "ada@example.com")).accessToken
            let third = try await app.signIn(.somebody("bob")).accessToken
            #expect(try await app.logout(third).status == 200)
            try await server.execute(
                """
                UPDATE session_bearers SET idle_until = now() - interval '1 second'
                 WHERE session_id = (SELECT id FROM sessions ORDER BY created_at LIMIT 1)
                """)
            _ = try await server.sweep()
            #expect(try await server.count("SELECT count(*) FROM session_bearers") == 2)
            #expect(try await app.me(bearer).status == 401)
            #expect(try await app.me(other).status == 200)
            // A replica counts when it starts.
            let configuration = TimeTrackerApp.configuration("session: { idle: 10d, lifetime: 30d }")
            _ = try await TestServer.with(
                database: server.databaseURL, application: configuration, providers: "scripted: {}"
            ) { replica in
                try await eventually("the bearer is counted") {
                    try await APIClient(replica).send(.GET, "/metrics").text.contains(
                        "gatehouse_session_bearers_live 1.0\n")
                }
            }
        }
    }

    @Test func `the audit names the dialect of a session that opens or ends, and of a refusal`() async throws {
        try await with { server, app, bearer in
            // A sign-up opens its session with the account, in one event.
            let created = try await server.audited().filter { $0.event == "account.created" }
            #expect(created.map { $0.details["dialect"] } == ["timetracker"], "\(created)")
            let further = try await server.audited {
                _ = try await app.signIn(.somebody("ada", email: "ada@example.com"))
                #expect(try await app.logout(bearer).status == 200)
                try await server.execute("UPDATE accounts SET disabled_at = now()")
                let arrival = try await app.arrive(with: .somebody("ada", email: "ada@example.com"))
                #expect(try await app.exchange(arrival).status == 403)
            }
            let expected = ["session.opened", "session.ended", "sign-in.refused"]
            let events = further.filter { expected.contains($0.event) }
            #expect(events.map(\.event) == expected, "\(further)")
            #expect(events.allSatisfy { $0.details["dialect"] == "timetracker" }, "\(events)")
            #expect(events.last?.details["rule"] == "account.disabled", "\(events)")
            // What version 1 of the API opens and ends has no dialect.
            let others = try await server.audited {
                let person = try await app.api.register(at: server)
                _ = try await app.api.post("/auth/logout", bearer: person.accessToken)
            }
            let ended = others.filter { $0.event == "session.ended" }
            #expect(ended.count == 1 && ended.allSatisfy { $0.details["dialect"] == .null }, "\(others)")
        }
    }

    @Test func `the export has the session without its secret, and an erasure leaves nothing of it`() async throws {
        try await with { server, app, bearer in
            let export = try await app.api.get("/auth/account/export", bearer: bearer)
            let session = try #require(export["sessions"].array?.first, "\(export.text)")
            #expect(session["dialect"] == "timetracker" && session["lastSeenAt"].string != nil)
            #expect(!export.text.contains(bearer.dropFirst(4)))
            let uid = try #require(export["account"]["uid"].string)
            #expect(try await app.api.delete("/auth/account", bearer: bearer).status == 204)
            #expect(try await app.me(bearer).status == 401)
            try await server.erase(uid)
            try await eventually("the account is erased") { try await server.accounts(uid) == 0 }
            #expect(try await server.count("SELECT count(*) FROM session_bearers") == 0)
            #expect(try await app.me(bearer).status == 401)
        }
    }
}
