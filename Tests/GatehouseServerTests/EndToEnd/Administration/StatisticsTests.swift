import Accounts
import Administration
import Foundation
import GatehouseTesting
import NIOHTTP1
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// What the server counts, and how administrators read it.
struct StatisticsTests {
    private static let admin = "{ application: demo }"

    @Test func `sign-ins, sign-ups, links and refreshes are counted by provider`() async throws {
        try await TestServer.with(providers: "scripted: {}", admin: Self.admin) { server in
            let client = APIClient(server)
            _ = try await client.present(.somebody("ada"))
            let again = try await client.present(.somebody("ada"))
            let linked = try await client.link(.somebody("eve"), bearer: again["accessToken"].string ?? "")
            try #require(linked.status == 200, "\(linked.text)")
            let guest = try await client.guest()
            #expect(try await client.refresh(guest.refreshToken).status == 200)

            let counted = try await server.counted()
            #expect(counted[.signUps] == ["scripted": 1, "anonymous": 1])
            #expect(counted[.signIns] == ["scripted": 2, "anonymous": 1])
            #expect(counted[.links] == ["scripted": 1])
            #expect(counted[.refreshes] == ["": 1])
        }
    }

    @Test func `refusals are counted by their rule, or else by their code`() async throws {
        try await TestServer.with(providers: "scripted: { mode: existing }", admin: Self.admin) { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            for _ in 1...2 {
                expectError(try await client.login(person.email, "wrong password"), 401, "INVALID_CREDENTIALS")
            }
            let refused = try await client.present(.somebody("ada"))
            let rule = try #require(refused.json["error"]["details"]["rule"].string, "\(refused.text)")
            // Requests that are malformed or lead nowhere say nothing about the people who sign in.
            #expect(try await client.post("/auth/login", [:]).status == 400)
            #expect(try await client.get("/nothing").status == 404)

            let counted = try await server.counted()
            #expect(counted[.refusals] == ["INVALID_CREDENTIALS": 2, rule: 1])
            #expect((counted[.hashing]?[""] ?? 0) >= 3)
        }
    }

    @Test func `deletions, erasures and messages are counted`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let uid = try #require(UUID(uuidString: person.uid))
            _ = try await server.acts.delete(uid, by: TestServer.operations, in: server.application())
            #expect(try await server.counted()[.deletions] == ["": 1])
            try await eventually("the mail of the registration and that of the deletion are counted") {
                try await server.counted()[.messages] == ["email/sent": 2]
            }
        }
    }

    @Test func `what a transaction has not committed is not counted`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let person = try await APIClient(server).register(at: server)
            let uid = try #require(UUID(uuidString: person.uid))
            let application = try await server.application()
            await #expect(throws: CancellationError.self) {
                try await server.backend.store.transaction { store in
                    _ = try await store.requestDeletion(
                        of: uid, by: .admin, session: nil, receipt: UUID(),
                        gracePeriod: .seconds(60), details: [:], application: application.id)
                    throw CancellationError()
                }
            }
            #expect(try await server.counted()[.deletions] == nil)
        }
    }

    @Test func `the series of a name have the label, the times and the numbers`() async throws {
        try await TestServer.with(providers: "scripted: {}", admin: Self.admin) { server in
            let client = APIClient(server)
            for name in ["ada", "eve"] { _ = try await client.present(.somebody(name)) }
            _ = try await client.guest()
            try await server.server.statisticsFlush.run()
            _ = try await client.guest()
            try await server.server.statisticsFlush.run()
            let key = try await server.serviceKey([.readServer])

            for step in ["minute", "hour", "day"] {
                let answer = try await client.get("/admin/statistics?name=signUps&step=\(step)", bearer: key)
                #expect(answer.status == 200, "\(answer.text)")
                let series = answer["series"].array ?? []
                #expect(Set(series.compactMap { $0["label"].string }) == ["scripted", "anonymous"])
                for one in series {
                    let points = one["points"].array ?? []
                    #expect(points.compactMap { $0.array?.last?.integer }.reduce(0, +) == 2, "\(answer.text)")
                    #expect(points.allSatisfy { $0.array?.first?.string?.hasSuffix(":00.000Z") == true })
                }
            }
            let one = try await client.get("/admin/statistics?name=signUps&label=scripted", bearer: key)
            #expect(one["series"].array?.compactMap { $0["label"].string } == ["scripted"])
            // The counts of the step into which `from` falls are part of the answer.
            for step in ["minute", "hour", "day"] {
                let counted = try #require(
                    try await server.text(
                        """
                        SELECT rfc3339(max(at) + interval '59 seconds')
                          FROM statistics WHERE step = 'minute' AND label = 'scripted'
                        """))
                let to = try #require(try await server.text("SELECT rfc3339(now() + interval '1 minute')"))
                let path = "/admin/statistics?name=signUps&label=scripted&step=\(step)&from=\(counted)&to=\(to)"
                #expect(try await client.get(path, bearer: key)["series"].array?.count == 1, "\(step)")
            }
            let past = "/admin/statistics?name=signUps&from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z"
            #expect(try await client.get(past, bearer: key)["series"] == [])
        }
    }

    @Test func `a period, a name or a step that is not possible is refused`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let (client, key) = (APIClient(server), try await server.serviceKey([.readServer]))
            expectError(try await client.get("/admin/statistics", bearer: key), 400, "MISSING_PARAMETER")
            for query in [
                "name=logins", "name=signIns&step=week", "name=signIns&from=yesterday",
                "name=signIns&label=%00", "name=signIns&label=a%00b",
                "name=signIns&from=2024-01-02T00:00:00Z&to=2024-01-02T00:00:00Z",
                "name=signIns&from=2024-01-01T00:00:00Z&to=2024-01-03T00:00:00Z&step=minute",
            ] {
                expectError(
                    try await client.get("/admin/statistics?\(query)", bearer: key), 400, "INVALID_PARAMETER", query)
            }
            let other = try await server.serviceKey([.readAudit])
            expectError(try await client.get("/admin/statistics?name=signIns", bearer: other), 403, "FORBIDDEN")
        }
    }

    @Test func `the numbers of another application are its own`() async throws {
        try await TestServer.with(others: TestServer.photos, admin: Self.admin) { server in
            _ = try await APIClient(server).guest()
            try await server.server.statisticsFlush.run()
            let key = try await server.serviceKey([.readServer], of: "photos")
            let photos = APIClient(server, application: "photos")
            #expect(try await photos.get("/admin/statistics?name=signUps", bearer: key)["series"] == [])
        }
    }

    @Test func `at most two thousand points are sent, of the labels with the highest sums`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let application = try await server.application().id
            try await server.execute(
                """
                INSERT INTO statistics (application_id, name, label, step, at, count)
                SELECT $1, 'refusals', label, 'minute', date_bin('1 minute', now(), 'epoch') - n * interval '1 minute',
                       weight
                  FROM generate_series(0, 899) AS n,
                       (VALUES ('often', 3), ('rarely', 1), ('at times', 2)) AS l (label, weight)
                """, [.int4(application.rawValue)])
            let key = try await server.serviceKey([.readServer])
            let answer = try await APIClient(server).get("/admin/statistics?name=refusals&step=minute", bearer: key)
            let series = answer["series"].array ?? []
            #expect(series.compactMap { $0["label"].string } == ["often", "at times"])
            #expect(series.allSatisfy { $0["points"].array?.count == 900 })
        }
    }

    @Test func `a server that ends stores what it has counted`() async throws {
        try await TestServer.with(admin: Self.admin) { first in
            try await TestServer.with(database: first.databaseURL, admin: Self.admin) { second in
                _ = try await APIClient(second).guest()
            }
            #expect(try await first.counted()[.signUps] == ["anonymous": 1])
        }
    }

    @Test func `minutes are kept for 48 hours, and hours for 400 days`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let application = try await server.application().id
            for (step, age, label) in [
                ("minute", "47 hours", "young"), ("minute", "49 hours", "old"), ("hour", "399 days", "young"),
                ("hour", "401 days", "old"),
            ] {
                try await server.execute(
                    """
                    INSERT INTO statistics (application_id, name, label, step, at, count)
                    VALUES ($1, 'signIns', $2, $3, now() - $4::text::interval, 1)
                    """, [.int4(application.rawValue), .text(label), .text(step), .text(age)])
            }
            _ = try await ExpiredRows(database: server.backend.database).remove()
            #expect(
                try await server.text(
                    "SELECT string_agg(step || ' ' || label, ',' ORDER BY step) FROM statistics WHERE name = 'signIns'")
                    == "hour young,minute young")
        }
    }
}

extension TestServer {
    /// Stores what was counted, and returns the sums by number and label.
    func counted() async throws -> [Statistic: [String: Int]] {
        try await server.statisticsFlush.run()
        let (application, now) = (try await application(), Date())
        let period = StatisticsPeriod(
            from: now.addingTimeInterval(-7200), to: now.addingTimeInterval(60), by: .hour)
        var counted: [Statistic: [String: Int]] = [:]
        for statistic in Statistic.allCases {
            let series = try await backend.store.series(
                of: statistic, label: nil, in: period, limit: 2000, application: application.id)
            for one in series { counted[statistic, default: [:]][one.label] = one.points.reduce(0) { $0 + $1.count } }
        }
        return counted
    }
}
