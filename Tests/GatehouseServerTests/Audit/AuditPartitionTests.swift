import Accounts
import Foundation
import Postgres
import Storage
import Testing

@testable import GatehouseServer

/// Partitions of the audit by month are created in advance and dropped after the retention period.
struct AuditPartitionTests {
    private func partitions(_ server: TestServer) -> AuditPartitions {
        AuditPartitions(database: server.backend.database)
    }

    private func covered(_ server: TestServer, _ ahead: Duration) async throws -> Bool {
        try await server.count(
            "SELECT count(*) FROM audit_partitions WHERE lower_end <= now() + $1::interval AND upper_end > now() + $1::interval",
            [.interval(ahead)]) == 1
    }

    @Test func `months are made ahead`() async throws {
        try await TestServer.with { server in
            try await eventually("the months are made") { try await covered(server, .seconds(59 * 86400)) }
            #expect(try await partitions(server).tend() == 0)
            let attached = try await server.count(
                "SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN audit_partitions p ON p.name = c.relname WHERE i.inhparent = 'audit_events'::regclass"
            )
            let listed = try await server.count("SELECT count(*) FROM audit_partitions")
            #expect(attached == listed)
        }
    }

    @Test func `events that came before their partition was made move there`() async throws {
        try await TestServer.with { server in
            try await eventually("the months are made") { try await covered(server, .seconds(59 * 86400)) }
            try await server.execute(
                "INSERT INTO audit_events (application_id, event, at, inserted_at) VALUES (1, 'early', now() + interval '100 days', now() + interval '100 days')"
            )
            #expect(try await server.count("SELECT count(*) FROM audit_events_default") == 1)
            try await server.awaitSealed()
            try await makeFurtherMonths(server)
            #expect(try await server.count("SELECT count(*) FROM audit_events_default") == 0)
            #expect(try await server.count("SELECT count(*) FROM audit_events WHERE event = 'early'") == 1)
            try await server.verify()
        }
    }

    /// Simulates a later call of the function, when partitions for further months are due.
    private func makeFurtherMonths(_ server: TestServer) async throws {
        try await server.execute(
            """
            DO $$ BEGIN
                EXECUTE replace(
                    pg_get_functiondef('prepare_audit_partitions'::regproc), 'interval ''2 months''',
                    'interval ''5 months''');
            END $$
            """)
        #expect(try await partitions(server).tend() > 0)
    }

    private static let day = 86_400_000_000

    /// Runs the body with three batches whose events are 500 days old, and one current batch.
    private func withOldMonth(_ body: @Sendable @escaping (TestServer, AuditCheckpoint) async throws -> Void)
        async throws
    {
        try await TestServer.with { server in
            let client = APIClient(server)
            for _ in 1...3 {
                _ = try await client.guest()
                try await server.awaitSealed()
            }
            let old = try #require(try await server.verify().last)
            try await server.age("audit_events", "at", "inserted_at", by: "500 days")
            _ = try await client.guest()
            try await server.awaitSealed()
            try await splitFirstPartition(server)
            try await body(server, old)
        }
    }

    @Test func `past retention a month is dropped, and the chain still holds`() async throws {
        try await withOldMonth { server, old in
            try await server.reseal { batch in
                batch.sealedAt.map { batch.seq <= old.seq ? $0 - 500 * Self.day : $0 }
            }
            let before = try #require(try await server.verify().last)
            let kept = try #require(try await server.backend.audit.batches(after: old.seq - 1, atMost: 1).first)
            #expect(try await partitions(server).tend() == 1)
            #expect(try await server.count("SELECT count(*) FROM audit_events") == 1)
            #expect(try await server.count("SELECT min(seq) FROM audit_batches") == old.seq)
            let report = try await server.verify(through: before)
            #expect(report.events == 1)
            #expect(report.last == before)
            try await server.verify(through: kept.checkpoint)
            // A checkpoint older than the oldest kept batch must be refused, because it cannot be compared.
            let forgotten = AuditCheckpoint(seq: old.seq - 1, mac: kept.previous)
            await #expect(throws: AuditFault.self) { try await server.verify(through: forgotten) }

            // The record of the last dropped batch is kept, and changing its time is detected.
            try await server.execute(
                "UPDATE audit_batches SET sealed_at = sealed_at + interval '1 day' WHERE seq = $1", [.int(old.seq)])
            await #expect(throws: AuditFault(batch: old.seq, reason: "was changed")) { try await server.verify() }
        }
    }

    @Test func `batches sealed within retention stay, even if their events claim to be older`() async throws {
        try await withOldMonth { server, _ in
            try await server.reseal { $0.sealedAt }
            let before = try await server.verify()
            #expect(try await partitions(server).tend() == 0)
            #expect(try await server.verify() == before)
            #expect(before.events == 4)
        }
    }

    @Test func `a month that cannot be created does not keep others from being dropped`() async throws {
        try await withOldMonth { server, old in
            try await server.reseal { batch in
                batch.sealedAt.map { batch.seq <= old.seq ? $0 - 500 * Self.day : $0 }
            }
            try await server.execute("DROP FUNCTION prepare_audit_partitions()")
            await #expect(throws: (any Error).self) { try await partitions(server).tend() }
            #expect(try await server.count("SELECT count(*) FROM audit_events") == 1)
        }
    }

    /// Moves events older than 401 days to a partition of their own, which they would have if the server had run then.
    private func splitFirstPartition(_ server: TestServer) async throws {
        try await server.execute(
            """
            DO $$
            DECLARE
                bound timestamptz := now() - interval '401 days';
                upper timestamptz;
            BEGIN
                SELECT upper_end INTO upper FROM audit_partitions WHERE name = 'audit_events_first';
                ALTER TABLE audit_events DETACH PARTITION audit_events_first;
                CREATE TABLE audit_events_second (LIKE audit_events INCLUDING ALL);
                WITH moved AS (DELETE FROM audit_events_first WHERE at >= bound RETURNING *)
                INSERT INTO audit_events_second SELECT * FROM moved;
                EXECUTE format('ALTER TABLE audit_events ATTACH PARTITION audit_events_first FOR VALUES FROM (MINVALUE) TO (%L)', bound);
                EXECUTE format('ALTER TABLE audit_events ATTACH PARTITION audit_events_second FOR VALUES FROM (%L) TO (%L)', bound, upper);
                UPDATE audit_partitions SET upper_end = bound WHERE name = 'audit_events_first';
                INSERT INTO audit_partitions VALUES ('audit_events_second', bound, upper);
            END $$
            """)
    }
}
