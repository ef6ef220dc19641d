import Accounts
import Postgres
import Testing

@testable import GatehouseBench
@testable import GatehouseServer

/// Costs stay flat however many accounts there are: what is asked for often finds its rows by an index.
struct IndexAccessTests {
    private static let people = 5000
    /// Those that people fill, and so the ones whose size the planner knows here.
    private static let filled: Set<String> = [
        "accounts", "identities", "addresses", "passwords", "sessions", "refresh_tokens",
    ]
    /// More rows than any one person has of anything, and far fewer than there are.
    private static let few = 50.0
    /// What a few look-ups come to, in the planner's units; reading any of the filled tables, or all of an index, is
    /// more.
    private static let cheap = 60.0

    @Test func `hot paths read only by indexes`() async throws {
        try await HotPathStage.with { stage in
            let server = stage.server
            try await seed(server)
            try await server.installPlanner()
            let scoped = try await server.tablesOfApplications()
            for path in HotPath.all {
                for sql in try await path.statements(on: stage) where sql != "BEGIN" && sql != "COMMIT" {
                    let plan = try await server.plan(of: sql)
                    for scan in plan.scans where Self.filled.contains(scan.table) {
                        #expect(scan.index != nil || scan.type == "Bitmap Heap Scan", "\(path.name): \(scan)")
                        #expect(scan.rows <= Self.few && scan.cost <= Self.cheap, "\(path.name): \(scan)")
                    }
                    // Tables that are empty here are read from one end to the other only where no index would do.
                    let byIndex = try await server.plan(of: sql, sequentially: false)
                    for scan in byIndex.scans where scoped.contains(scan.table) {
                        #expect(scan.type != "Seq Scan", "\(path.name): \(scan)")
                    }
                }
            }
        }
    }

    /// The plans say so where an index is missing.
    @Test func `a table without an index is noticed`() async throws {
        try await TestServer.with { server in
            try await seed(server)
            try await server.installPlanner()
            let byName = "SELECT uid FROM accounts WHERE application_id = $1 AND display_name = $2"
            let planned = try await server.plan(of: byName)
            #expect(planned.scans.map(\.type) == ["Seq Scan"])
            // An index that finds nothing but the application reads as much.
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
