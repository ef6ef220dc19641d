import Postgres
import Storage
import Testing

@testable import GatehouseServer

/// The planner's statistics follow tables that grow before autovacuum runs.
@Suite(.needsOneNode) struct PlannerStatisticsTests {
    private func known(_ server: TestServer) async throws -> Int {
        try await server.count("SELECT greatest(reltuples, 0)::int8 FROM pg_class WHERE oid = 'accounts'::regclass")
    }

    /// Adds accounts and waits until PostgreSQL's statistics include them.
    private func add(_ people: Int, to server: TestServer, inAll count: Int) async throws {
        try await server.execute(
            """
            INSERT INTO accounts (application_id, uid, audit_key)
            SELECT 1, gen_random_uuid(), sha256(int8send(n)) FROM generate_series(1, $1::int8) n
            """, [.int(people)])
        try await eventually("the rows are counted") {
            try await server.count("SELECT n_live_tup FROM pg_stat_user_tables WHERE relname = 'accounts'") == count
        }
    }

    @Test func `a table is analysed after it grew tenfold`() async throws {
        try await TestServer.with { server in
            try await server.execute("ALTER TABLE accounts SET (autovacuum_enabled = false)")
            let statistics = PlannerStatistics(database: server.backend.database)
            try await add(50, to: server, inAll: 50)
            try await statistics.refresh()
            #expect(try await known(server) == 0)
            try await add(150, to: server, inAll: 200)
            try await eventually("the server looks by itself") { try await known(server) == 200 }
            try await add(1700, to: server, inAll: 1900)
            try await statistics.refresh()
            #expect(try await known(server) == 200)
            try await add(100, to: server, inAll: 2000)
            try await statistics.refresh()
            #expect(try await known(server) == 2000)
        }
    }
}
