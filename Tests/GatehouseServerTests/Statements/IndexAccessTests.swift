import Accounts
import Postgres
import Storage
import Testing

@testable import GatehouseBench
@testable import GatehouseServer

/// Frequent statements find their rows by an index, so their cost does not grow with the number of accounts.
@Suite(.needsOneNode) struct IndexAccessTests {
    private static let people = 5000
    /// The tables that `seed` fills, and so the only ones for which the planner has statistics.
    private static let filled: Set<String> = [
        "accounts", "identities", "addresses", "passwords", "sessions", "refresh_tokens",
    ]
    /// More rows than one person has in any table, and far fewer than all rows.
    private static let few = 50.0
    /// The cost of a few index look-ups in the planner's units; scanning a filled table or a whole index costs more.
    private static let cheap = 60.0

    @Test func `hot paths read only by indexes`() async throws {
        try await HotPathStage.with { stage in
            let server = stage.server
            try await seed(server)
            try await server.installPlanner()
            let scoped = try await server.tablesOfApplications()
            // The planner expects ten elements in an array; linking names one or two accounts.
            let paths =
                (HotPath.all + HotPath.openID).map { ($0, Self.cheap) }
                + HotPath.linking.map { ($0, 10 * Self.cheap) }
            for (path, cheap) in paths {
                for sql in try await path.undisturbed(on: stage).statements where sql != "BEGIN" && sql != "COMMIT" {
                    let plan = try await server.plan(of: sql)
                    for scan in plan.scans where Self.filled.contains(scan.table) {
                        #expect(scan.index != nil || scan.type == "Bitmap Heap Scan", "\(path.name): \(scan)")
                        #expect(scan.rows <= Self.few && scan.cost <= cheap, "\(path.name): \(scan)")
                    }
                    // An empty table is scanned sequentially only if no index applies.
                    let byIndex = try await server.plan(of: sql, sequentially: false)
                    for scan in byIndex.scans where scoped.contains(scan.table) {
                        #expect(scan.type != "Seq Scan", "\(path.name): \(scan)")
                    }
                }
            }
        }
    }

    /// Their conditions are such that a page reads little more than what it has, whatever the size of the tables.
    @Test func `lists and searches of administrators read by the indexes that are made for them`() async throws {
        try await TestServer.with { server in
            try await seed(server)
            try await server.installPlanner()
            let scoped = try await server.tablesOfApplications()
            let files = ["AccountLists", "AccountSearch", "AccountReading"].map { "SQLStore+\($0).swift" }
            let statements = try StorageStatement.all().filter { files.contains($0.file) }
            var indexes: Set<String> = []
            for statement in statements {
                let plan = try await server.plan(of: statement.sql, sequentially: false)
                for scan in plan.scans where scoped.contains(scan.table) {
                    #expect(scan.type != "Seq Scan", "\(statement): \(scan)")
                    indexes.insert(scan.index ?? "")
                }
                let planned = try await server.plan(of: statement.sql)
                // A scalar subquery reads few rows, so that no part of the statement reads a whole table first.
                for scan in planned.scans.dropFirst() where Self.filled.contains(scan.table) {
                    #expect(scan.rows <= Self.few, "\(statement): \(scan)")
                }
            }
            let expected: Set = [
                "accounts_by_age", "accounts_disabled_by_age", "accounts_deleted_by_age", "accounts_absorbed_by_age",
                "accounts_by_name", "identities_of_provider", "identities_of_guest_accounts", "identities_unproven",
                "identities_unproven_phone",
            ]
            #expect(expected.isSubset(of: indexes), "\(expected.subtracting(indexes))")
        }
    }

    @Test func `one session is ended by its key, no matter how many sessions its account has`() async throws {
        try await TestServer.with { server in
            try await seed(server)
            try await server.installPlanner()
            let plan = try await server.plan(of: SQLStore.endSessions.text)
            // The others find the sessions of the account, if more than one ends, and the clients of a browser session.
            let indexes = Set(plan.scans.filter { $0.table == "sessions" }.map(\.index))
            #expect(
                indexes == ["sessions_pkey", "sessions_of_account", "sessions_of_parent"], "\(plan.scans)")
        }
    }

    /// Without an index the plan shows a sequential scan.
    @Test func `a table without an index is noticed`() async throws {
        try await TestServer.with { server in
            try await seed(server)
            try await server.installPlanner()
            let byName = "SELECT uid FROM accounts WHERE application_id = $1 AND display_name = $2"
            let planned = try await server.plan(of: byName)
            #expect(planned.scans.map(\.type) == ["Seq Scan"])
            // An index that matches only the application reads as many rows as a sequential scan.
            let sorted = try await server.plan(of: byName, sequentially: false)
            #expect((sorted.scans.first?.cost ?? 0) > Self.cheap)
            let all = try await server.plan(of: "SELECT uid FROM accounts WHERE application_id = $1")
            #expect((all.scans.first?.rows ?? 0) > Self.few)
        }
    }

    private func seed(_ server: TestServer) async throws {
        let application = try await server.application()
        let seeded = SeededAccounts(
            database: server.backend.database, application: application.id, lifetimes: application.policy.tokens,
            providers: ("email", "google"), identitiesPerAccount: 2, password: PasswordHash(phc: "none"),
            secrets: SeededSecrets(opaque: server.backend.opaque))
        #expect(try await seeded.add(1...Self.people) == Self.people)
        try await seeded.analyze()
    }
}
