import Accounts
import Foundation
import Postgres
import Testing

@testable import GatehouseServer

/// Exports do not delay other requests.
struct ExportLoadTests {
    @Test(.needsOneNode) func `an export reads only the person's rows`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            try await fill(server)
            for _ in 1...3 {
                let before = try await rowsRead(server)
                let answer = try await client.get("/auth/account/export", bearer: person.accessToken)
                #expect(answer.status == 200)
                // PostgreSQL's connections report their statistics with a delay of at least a second.
                try await eventually("the database tells of it") {
                    try await server.count(
                        "SELECT coalesce(sum(idx_scan), 0)::int8 FROM pg_stat_user_tables WHERE relname = 'proofs'")
                        > before.proofScans
                }
                let after = try await rowsRead(server)
                #expect(after.rows - before.rows < 5000)
            }
        }
    }

    private func rowsRead(_ server: TestServer) async throws -> (rows: Int, proofScans: Int) {
        (
            try await server.count(
                """
                SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int8 FROM pg_stat_user_tables
                 WHERE relname IN ('proofs', 'registrations', 'sessions', 'erasures', 'webhook_deliveries')
                """),
            try await server.count(
                "SELECT coalesce(sum(idx_scan), 0)::int8 FROM pg_stat_user_tables WHERE relname = 'proofs'")
        )
    }

    /// Inserts 20,000 rows of other people into each table that has no foreign key to an account.
    private func fill(_ server: TestServer) async throws {
        let statements: [StaticString] = [
            """
            INSERT INTO proofs (application_id, kind, hash, provider, provider_uid, methods, expires_at, session_id)
            SELECT a.id, 'k', sha256(n::text::bytea), 'x', n::text, '{}', now() + interval '1 day', gen_random_uuid()
              FROM applications a, generate_series(1, 20000) n
            """,
            """
            INSERT INTO registrations (application_id, provider, provider_uid, id, address, hash, is_decoy, expires_at)
            SELECT a.id, 'x', n::text, gen_random_uuid(), n || '@x.example', 'x', false, now() + interval '1 day'
              FROM applications a, generate_series(1, 20000) n
            """,
            """
            INSERT INTO erasures (application_id, receipt, uid, purge_after, restored_at)
            SELECT a.id, gen_random_uuid(), gen_random_uuid(), now(), now()
              FROM applications a, generate_series(1, 20000) n
            """,
            """
            INSERT INTO webhook_deliveries (application_id, event_id, webhook, name, kind, uid, acknowledged_at)
            SELECT a.id, gen_random_uuid(), 'x', 'x', 'account.created', gen_random_uuid(), now()
              FROM applications a, generate_series(1, 20000) n
            """,
            "ANALYZE proofs", "ANALYZE registrations", "ANALYZE erasures", "ANALYZE webhook_deliveries",
        ]
        for statement in statements {
            try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Statement(.write, statement))
            }
        }
    }

    @Test func `a client's exports are limited by a fixed rate`() async throws {
        try await TestServer.with(rateLimits: "{ login: off }") { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            var statuses: [Int] = []
            // Several more than the limit, because a slow server allows one more every few seconds.
            while statuses.last != 429 && statuses.count < 60 {
                statuses.append(try await client.get("/auth/account/export", bearer: guest.accessToken).status)
            }
            #expect(statuses.count > 20 && statuses.dropLast().allSatisfy { $0 == 200 })
            #expect(statuses.last == 429)
        }
    }
}
