import Accounts
import Foundation
import Postgres
import Storage
import Testing

@testable import GatehouseServer

/// An attacker who can write events with forged times cannot deceive the audit's verification.
struct AuditRetentionTests {
    /// Runs the body with some batches of ordinary events.
    private func withSealedAudit(
        _ body: @Sendable @escaping (TestServer, AuditCheckpoint) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            for _ in 1...2 {
                _ = try await APIClient(server).guest()
                try await server.awaitSealed()
            }
            try await body(server, try #require(try await server.verify().last))
        }
    }

    private func insertOldEvent(_ server: TestServer, beside events: Int) async throws {
        try await server.execute(
            """
            INSERT INTO audit_events (application_id, event, at, inserted_at)
            SELECT 1, 'n' || n, moment, moment
              FROM generate_series(0, $1) AS n
             CROSS JOIN LATERAL (
                   SELECT now() - CASE n WHEN 0 THEN interval '401 days' ELSE interval '0' END AS moment) AS m
            """, [.int(events)])
        try await server.awaitSealed()
    }

    @Test func `events that were sealed together with an old one can't be changed`() async throws {
        try await withSealedAudit { server, checkpoint in
            try await insertOldEvent(server, beside: 3)
            let last = try #require(try await server.verify(through: checkpoint).last)
            let together = try await server.count(
                "SELECT count(*) FROM audit_events WHERE batch = $1", [.int(last.seq)])
            #expect(together == 4)
            try await server.execute("UPDATE audit_events SET details = '{\"x\":1}' WHERE event = 'n2'")
            await #expect(throws: AuditFault(batch: last.seq, reason: "has an event that was changed")) {
                try await server.verify()
            }
            try await server.execute("DELETE FROM audit_events WHERE event = 'n2'")
            await #expect(throws: AuditFault(batch: last.seq, reason: "lacks an event")) { try await server.verify() }
        }
    }

    @Test func `an old event is not accepted as the beginning of the chain`() async throws {
        try await withSealedAudit { server, checkpoint in
            try await insertOldEvent(server, beside: 0)
            let last = try #require(try await server.verify(through: checkpoint).last)
            try await server.execute("DELETE FROM audit_events WHERE batch < $1", [.int(last.seq)])
            try await server.execute("DELETE FROM audit_batches WHERE seq < $1", [.int(last.seq)])
            let fault = AuditFault(batch: last.seq - 1, reason: "is missing, and was not old enough to be removed")
            await #expect(throws: fault) { try await server.verify() }
            await #expect(throws: fault) { try await server.verify(through: checkpoint) }
        }
    }

    @Test func `a time that no event can have is refused`() async throws {
        try await withSealedAudit { server, checkpoint in
            for time in ["-infinity", "infinity", "1999-01-01", "2999-01-01"] {
                await #expect(throws: PostgresError.self, "\(time)") {
                    try await server.execute(
                        "INSERT INTO audit_events (application_id, event, at) VALUES (1, 'x', $1::text::timestamptz)",
                        [.text(time)])
                }
            }
            await #expect(throws: PostgresError.self) {
                try await server.execute(
                    "INSERT INTO audit_events (application_id, event, at, inserted_at) VALUES (1, 'x', 'infinity', NULL)"
                )
            }
            let unsealed = try await server.verify(through: checkpoint).unsealed
            #expect(unsealed == 0)
        }
    }

    @Test func `an event that nothing seals is a fault`() async throws {
        try await withSealedAudit { server, checkpoint in
            try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(
                    Statement(.write, "SELECT pg_advisory_xact_lock(7162534108259)"))
                _ = try await APIClient(server).guest()
                let unsealed = try await server.verify(through: checkpoint).unsealed
                #expect(unsealed > 0)
                // The limit depends on when an event was inserted, not on its `at`.
                try await server.age("audit_events", "inserted_at", by: "61 seconds", where: "batch IS NULL")
                let backlog = try await BacklogTable(database: server.backend.database).look()
                #expect(backlog.unsealedEvents == unsealed && (61...300).contains(backlog.oldestUnsealed))
                await #expect(
                    throws: AuditFault(reason: "an event has been waiting for its seal for more than a minute")
                ) {
                    try await server.verify(through: checkpoint)
                }
            }
            try await server.awaitSealed()
            try await server.verify(through: checkpoint)
        }
    }

    @Test func `a batch is never older than the previous one, even if its server's clock is wrong`() async throws {
        try await withSealedAudit { server, _ in
            _ = try await APIClient(server).guest()
            try await server.awaitSealed()
            let batches = try await server.backend.audit.batches(after: 0, atMost: 1000)
            let last = try #require(batches.last).seq
            try #require(last > 2)
            // Simulates a server clock that was set back by more than the retention period, either directly or after
            // batches of a version that stored no sealing times.
            for (undated, edited) in [(1..<1, 2), (1..<1, last), (2..<last, 2), (2..<last, last)] {
                try await server.reseal { batch in
                    undated.contains(batch.seq)
                        ? nil
                        : batches[batch.seq - 1].sealedAt.map { batch.seq > 1 ? $0 - 401 * 86_400_000_000 : $0 }
                }
                let report = try await server.verify()
                #expect(report.events == batches.reduce(0) { $0 + $1.events })
                try await server.execute(
                    "UPDATE audit_events SET details = details || '{\"edited\":true}' WHERE batch = $1", [.int(edited)])
                await #expect(throws: AuditFault(batch: edited, reason: "has an event that was changed")) {
                    try await server.verify()
                }
                try await server.execute(
                    "UPDATE audit_events SET details = details - 'edited' WHERE batch = $1", [.int(edited)])
            }
        }
    }

    @Test func `batches of the version before are as old as the next of this one`() async throws {
        try await withSealedAudit { server, checkpoint in
            try await server.execute(
                """
                UPDATE audit_events SET at = (at AT TIME ZONE 'UTC' - interval '500 days') AT TIME ZONE 'UTC',
                                        inserted_at = NULL
                 WHERE batch = $1
                """,
                [.int(checkpoint.seq)])
            try await server.reseal { _ in nil }
            let events2 = try await server.verify().events
            #expect(events2 == 2)
            _ = try await APIClient(server).guest()
            try await server.awaitSealed()
            try await server.execute("UPDATE audit_events SET details = '{}' WHERE batch = $1", [.int(checkpoint.seq)])
            await #expect(throws: AuditFault(batch: checkpoint.seq, reason: "has an event that was changed")) {
                try await server.verify()
            }
            try await server.execute("DELETE FROM audit_events WHERE batch < $1", [.int(checkpoint.seq)])
            try await server.execute("DELETE FROM audit_batches WHERE seq < $1", [.int(checkpoint.seq)])
            await #expect(throws: AuditFault.self) { try await server.verify() }
            // The missing batches are accepted once the checkpoint's batch is older than the retention period.
            try await server.reseal { $0.sealedAt.map { $0 - 401 * 86_400_000_000 } }
            let events0 = try await server.verify().events
            #expect(events0 == 0)
        }
    }
}
