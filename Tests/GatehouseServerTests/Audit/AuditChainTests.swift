import Accounts
import Foundation
import Postgres
import Testing

@testable import GatehouseServer

/// Changes that an attacker with write access to the database can make to the audit, and how verification detects them.
struct AuditChainTests {
    /// Runs the body with at least three sealed batches and the checkpoint of the last one.
    private func withSealedAudit(
        _ body: @Sendable @escaping (TestServer, AuditCheckpoint) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            for _ in 1...3 {
                _ = try await client.guest()
                _ = try await client.guest()
                try await server.awaitSealed()
            }
            let checkpoint = try #require(try await server.verify().last)
            #expect(checkpoint.seq >= 3)
            try await body(server, checkpoint)
        }
    }

    private func expectFault(
        _ server: TestServer, _ fault: AuditFault, through checkpoint: AuditCheckpoint? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        await #expect(throws: fault, sourceLocation: sourceLocation) { try await server.verify(through: checkpoint) }
    }

    @Test func `events are sealed within a second and verify`() async throws {
        try await TestServer.with { server in
            _ = try await APIClient(server).guest()
            let elapsed = try await server.awaitSealed()
            #expect(elapsed < .seconds(3))
            let report = try await server.verify()
            #expect(report.events == 1 && report.unsealed == 0)
            #expect(report.batches == report.last?.seq)
            let events = try await server.count("SELECT count(*) FROM audit_events")
            #expect(events == 1)
        }
    }

    @Test func `an edited event`() async throws {
        try await withSealedAudit { server, _ in
            try await server.execute(
                """
                UPDATE audit_events SET details = '{"provider":"email"}'
                 WHERE id = (SELECT id FROM audit_events WHERE batch = 2 LIMIT 1)
                """)
            try await expectFault(server, AuditFault(batch: 2, reason: "has an event that was changed"))
        }
    }

    @Test func `an event of another account, session, time or name`() async throws {
        let edits: [StaticString] = [
            "UPDATE audit_events SET account = sha256('x') WHERE batch = 1",
            "UPDATE audit_events SET account = NULL WHERE batch = 1",
            "UPDATE audit_events SET session_id = md5('x')::uuid WHERE batch = 1",
            "UPDATE audit_events SET at = (at AT TIME ZONE 'UTC' + interval '1 us') AT TIME ZONE 'UTC' WHERE batch = 1",
            "UPDATE audit_events SET event = 'session.opened' WHERE batch = 1",
        ]
        for edit in edits {
            try await withSealedAudit { server, _ in
                try await server.execute(edit)
                try await expectFault(server, AuditFault(batch: 1, reason: "has an event that was changed"))
            }
        }
    }

    @Test(.needsOneNode) func `an event of another application`() async throws {
        try await withSealedAudit { server, _ in
            try await server.execute("UPDATE audit_events SET application_id = 77 WHERE batch = 1")
            try await expectFault(server, AuditFault(batch: 1, reason: "has an event that was changed"))
        }
    }

    @Test func `a removed event`() async throws {
        try await withSealedAudit { server, _ in
            try await server.execute(
                "DELETE FROM audit_events WHERE id = (SELECT min(id::text)::uuid FROM audit_events WHERE batch = 2)")
            try await expectFault(server, AuditFault(batch: 2, reason: "lacks an event"))
        }
    }

    @Test func `an inserted event`() async throws {
        try await withSealedAudit { server, _ in
            try await server.execute(
                "INSERT INTO audit_events (application_id, event, batch) VALUES (1, 'account.enabled', 1)")
            try await expectFault(server, AuditFault(batch: 1, reason: "has an event too many"))
            try await server.execute("DELETE FROM audit_events WHERE event = 'account.enabled'")
            try await server.execute(
                "INSERT INTO audit_events (application_id, event, batch) VALUES (1, 'account.enabled', 1000)")
            try await expectFault(server, AuditFault(batch: 1000, reason: "was never sealed, and has an event"))
        }
    }

    @Test func `a batch that was changed, removed, or made up`() async throws {
        try await withSealedAudit { server, _ in
            try await server.execute("UPDATE audit_batches SET events = events + 1 WHERE seq = 2")
            try await expectFault(server, AuditFault(batch: 2, reason: "was changed"))
            try await server.execute("UPDATE audit_batches SET events = events - 1 WHERE seq = 2")
            _ = try await server.verify()
            try await server.execute("DELETE FROM audit_batches WHERE seq = 2")
            try await server.execute("DELETE FROM audit_events WHERE batch = 2")
            try await expectFault(server, AuditFault(batch: 2, reason: "is missing"))
            try await server.execute("DELETE FROM audit_batches WHERE seq = 1")
            try await server.execute("DELETE FROM audit_events WHERE batch = 1")
            try await expectFault(
                server, AuditFault(batch: 2, reason: "is missing, and was not old enough to be removed"))
        }
    }

    @Test func `all batches removed, and their events kept`() async throws {
        try await withSealedAudit { server, checkpoint in
            try await server.execute("DELETE FROM audit_batches")
            try await expectFault(server, AuditFault(batch: 2, reason: "was never sealed, and has an event"))
            try await expectFault(
                server, AuditFault(batch: checkpoint.seq, reason: "of the checkpoint is missing: the end was cut off"),
                through: checkpoint)
            // Removing only the batches is also detected if no events but those of the first one remain.
            try await server.execute("DELETE FROM audit_events WHERE batch > 1")
            try await expectFault(server, AuditFault(batch: 1, reason: "is missing"))
        }
    }

    @Test func `only a checkpoint reveals a removed end of the chain`() async throws {
        try await withSealedAudit { server, checkpoint in
            _ = try await server.verify(through: checkpoint)
            try await server.execute("DELETE FROM audit_batches WHERE seq = $1", [.int(checkpoint.seq)])
            try await server.execute("DELETE FROM audit_events WHERE batch = $1", [.int(checkpoint.seq)])
            _ = try await server.verify()
            try await expectFault(
                server, AuditFault(batch: checkpoint.seq, reason: "of the checkpoint is missing: the end was cut off"),
                through: checkpoint)
            // The chain continues from the cut, and therefore differs from the one of the checkpoint.
            _ = try await APIClient(server).guest()
            try await server.awaitSealed()
            _ = try await server.verify()
            try await expectFault(
                server, AuditFault(batch: checkpoint.seq, reason: "is not the one that the checkpoint is of"),
                through: checkpoint)
        }
    }

    @Test func `an event that commits late is in a later batch`() async throws {
        try await withSealedAudit { server, checkpoint in
            let database = server.backend.database
            try await database.transaction { transaction in
                _ = try await transaction.execute(
                    Statement(.write, "INSERT INTO audit_events (application_id, event) VALUES (1, 'late')"))
                _ = try await APIClient(server).guest()
                try await eventually("the other event is sealed") {
                    try await server.count("SELECT max(seq) FROM audit_batches") > checkpoint.seq
                }
                _ = try await server.verify(through: checkpoint)
            }
            try await server.awaitSealed()
            let report = try await server.verify(through: checkpoint)
            let late = try await server.count("SELECT batch FROM audit_events WHERE event = 'late'")
            #expect(late == report.last?.seq)
            #expect(late > checkpoint.seq + 1)
        }
    }

    @Test func `two replicas seal one chain`() async throws {
        try await TestServer.with { server in
            try await TestServer.with(database: server.databaseURL) { other in
                for round in 1...20 {
                    _ = try await APIClient(round.isMultiple(of: 2) ? server : other).guest()
                }
                try await server.awaitSealed()
                #expect(try await server.verify().events == 20)
            }
        }
    }

    @Test func `many events at once are several batches`() async throws {
        try await TestServer.with { server in
            try await server.execute(
                """
                INSERT INTO audit_events (application_id, event, at)
                SELECT 1, 'made up', now() - n * interval '1 microsecond' FROM generate_series(1, 12345) n
                """)
            try await server.awaitSealed()
            let report = try await server.verify()
            #expect(report.events == 12_345)
            #expect(report.batches >= 13)
        }
    }

    @Test(.needsOneNode) func `the cost of a long backlog grows linearly`() async throws {
        try await TestServer.with { server in
            try await server.execute(
                """
                INSERT INTO audit_events (application_id, event, at)
                SELECT 1, 'made up', now() - n * interval '1 millisecond' FROM generate_series(1, 100000) n
                """)
            // Counts sealed events, because looking for unsealed ones would read more rows than sealing does.
            try await eventually("the audit is sealed", within: .seconds(120)) {
                try await server.count("SELECT coalesce(sum(events), 0)::int8 FROM audit_batches") == 100_000
            }
            let report = try await server.verify()
            #expect(report.events == 100_000 && report.batches >= 100)
            // Each event is read three times: when it is selected, numbered and verified.
            var read = 0
            try await eventually("PostgreSQL has counted it") {
                read = try await server.count(
                    """
                    SELECT (sum(seq_tup_read) + sum(idx_tup_fetch))::int8 FROM pg_stat_user_tables
                     WHERE relname LIKE 'audit\\_events\\_%'
                    """)
                return read > 200_000
            }
            #expect(read < 2_000_000, "\(read)")
        }
    }
}
