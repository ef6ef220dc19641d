import Postgres
import Storage
import Testing

@testable import GatehouseServer

/// The planner hears of tables that grow while autovacuum sleeps.
struct PlannerStatisticsTests {
    private func known(_ server: TestServer) async throws -> Int {
        try await server.count("SELECT greatest(reltuples, 0)::int8 FROM pg_class WHERE oid = 'accounts'::regclass")
    }

    private func add(_ people: Int, to server: TestServer) async throws {
        // Told at once: else what a connection did may be heard of as late as ten seconds after it.
        try await server.execute(
            """
            WITH added AS (
                INSERT INTO accounts (application_id, uid, audit_key)
                SELECT 1, gen_random_uuid(), sha256(int8send(n)) FROM generate_series(1, $1::int8) n
            )
            SELECT 1 FROM pg_stat_force_next_flush()
            """, [.int(people)])
    }

    @Test func `a table is known once it has ten times its rows`() async throws {
        try await TestServer.with { server in
            try await add(50, to: server)
            let statistics = PlannerStatistics(database: server.backend.database)
            try await statistics.refresh()
            #expect(try await known(server) == 0)
            try await add(150, to: server)
            // The server itself looks every few seconds.
            try await eventually("the planner knows the table") { try await known(server) == 200 }
            try await add(1700, to: server)
            try await statistics.refresh()
            #expect(try await known(server) == 200)
            try await add(100, to: server)
            try await eventually("the planner knows how it grew") { try await known(server) == 2000 }
        }
    }
}
