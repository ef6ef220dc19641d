import Accounts
import Foundation
import GatehouseTesting
import Logging
import Migrations
import Postgres
import Storage
import Testing
import Tokens

@testable import GatehouseServer

/// Which events a batch contains if no other replica seals.
struct BatchSealTests {
    private struct Sealing: Sendable {
        let database: Database
        let audit: AuditTable
        let authentication: AuditMAC
        let start = Date(timeIntervalSince1970: Date.now.timeIntervalSince1970.rounded(.down))

        /// The numbers of the events' batches, the oldest event first; 0 means unsealed.
        func names() async throws -> [Int: [String]] {
            let rows = try await database.execute(
                Statement(.read, "SELECT coalesce(batch, 0), event FROM audit_events ORDER BY at, event"), [])
            return try rows.reduce(into: [:]) { names, row in
                var row = row
                names[try row.next(Int.self), default: []].append(try row.next(String.self))
            }
        }

        /// Inserts events by name, each at this number of seconds after the start.
        func insert(_ events: KeyValuePairs<String, Int>) async throws {
            for (name, second) in events {
                _ = try await database.execute(
                    Statement(
                        .write,
                        """
                        INSERT INTO audit_events (application_id, event, at)
                        VALUES (1, $1, $3 + $2 * interval '1 second')
                        """), [.text(name), .int(second), .timestamp(start)])
            }
        }

        /// How many index entries and rows of the audit's tables have been read.
        func entriesRead() async throws -> Int {
            // A connection reports what it has read at most once a second.
            try await Task.sleep(for: .milliseconds(1500))
            let rows = try await database.execute(
                Statement(
                    .read,
                    """
                    SELECT (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname LIKE 'audit_events%')::int8
                           + (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname LIKE 'audit_events%')::int8
                    """), [])
            var row = try #require(rows.first)
            return try row.next()
        }

        func seal(from time: Int? = nil, count: Int) async throws -> AuditBatch? {
            try await audit.seal(from: time, count: count) { last, events in
                let times = events.map(\.at)
                var batch = AuditBatch(
                    seq: (last?.seq ?? 0) + 1, previous: last?.mac ?? [], firstAt: times.min() ?? 0,
                    lastAt: times.max() ?? 0, sealedAt: nil, events: events.count,
                    digest: authentication.digest(of: events))
                batch.mac = authentication.mac(of: batch)
                return batch
            }
        }
    }

    private func with(_ body: (Sealing) async throws -> Void) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let url = try await TemporaryPostgres.database(migrations: Migrations.all)
        let database = Database(Database.Configuration(url: url), logger: logger)
        database.start()
        try await attempt {
            let rootKey = try await RootKey.open(
                RootKeyTable(database: database),
                with: MasterKeys(current: Data(repeating: 7, count: 32).base64EncodedString()))
            try await body(
                Sealing(
                    database: database, audit: AuditTable(database: database),
                    authentication: AuditMAC(rootKey: rootKey)))
        } finally: {
            await database.stop()
        }
    }

    @Test func `a batch has the oldest events, up to its limit`() async throws {
        try await with { sealing in
            try await sealing.insert(["e": 5, "a": 1, "d": 4, "b": 2, "c": 3])
            let first = try #require(try await sealing.seal(count: 2))
            #expect(first.seq == 1 && first.events == 2)
            #expect(try await sealing.names() == [1: ["a", "b"], 0: ["c", "d", "e"]])
            let second = try #require(try await sealing.seal(count: 4))
            #expect(second.seq == 2 && second.previous == first.mac)
            #expect(try await sealing.names() == [1: ["a", "b"], 2: ["c", "d", "e"]])
            #expect(try await sealing.seal(count: 4) == nil)
            let kept = try await sealing.audit.batches(after: 0, atMost: 10)
            #expect(kept == [first, second])
        }
    }

    @Test func `a batch ends with all events of its last time, and sealing can start at a given time`() async throws {
        try await with { sealing in
            try await sealing.insert(["a": 1, "b": 2, "c": 2, "d": 2])
            _ = try await sealing.seal(count: 1)
            let second = try #require(try await sealing.seal(count: 2))
            #expect(second.events == 3 && second.firstAt == second.lastAt)
            // The next one starts with that time and leaves out older, late events.
            try await sealing.insert(["late": 1, "same": 2])
            #expect(try await sealing.seal(from: second.lastAt, count: 5)?.events == 1)
            #expect(try await sealing.seal(from: second.lastAt, count: 5) == nil)
            #expect(try await sealing.names()[0] == ["late"])
            #expect(try await sealing.seal(count: 5)?.firstAt == second.lastAt - 1_000_000)
        }
    }

    @Test func `one call seals all, full batch by full batch`() async throws {
        try await with { sealing in
            // Many events share each time, and no time is in two batches.
            _ = try await sealing.database.execute(
                Statement(
                    .write,
                    """
                    INSERT INTO audit_events (application_id, event, at)
                    SELECT 1 + n % 2, 'n' || n, date_trunc('minute', now()) - n % 9 * interval '1 second'
                      FROM generate_series(1, 2500) n
                    """), [])
            let chain = AuditChain(store: sealing.audit, authentication: sealing.authentication, time: SystemTime())
            var checkpoints: [AuditCheckpoint] = []
            try await chain.sealAll { checkpoints.append($0) }
            let batches = try await sealing.audit.batches(after: 0, atMost: 10)
            #expect(batches.count == 3 && batches.dropLast().allSatisfy { (1000..<1300).contains($0.events) })
            #expect(batches.map(\.events).reduce(0, +) == 2500)
            #expect(batches.map(\.checkpoint) == checkpoints)
            for batch in batches {
                let times = try await sealing.audit.events(ofBatches: batch.seq...batch.seq, atMost: 2500)
                    .map(\.event.at)
                #expect(times.count == batch.events)
                #expect(times.first == batch.firstAt && times.last == batch.lastAt)
            }
            for (batch, next) in zip(batches, batches.dropFirst()) { #expect(batch.lastAt < next.firstAt) }
            let report = try await AuditVerification(
                store: sealing.audit, authentication: sealing.authentication, time: SystemTime()
            ).verify(through: checkpoints.last)
            #expect(report.events == 2500 && report.unsealed == 0)
        }
    }

    @Test(.needsOneNode) func `a plan made for one event seals a long backlog, each batch as fast as the first`()
        async throws
    {
        try await with { sealing in
            // After five executions, a connection keeps the plan that it has then.
            for second in 0..<8 {
                try await sealing.insert(["first": second - 100])
                _ = try await sealing.seal(count: 1000)
            }
            _ = try await sealing.database.execute(
                Statement(
                    .write,
                    """
                    INSERT INTO audit_events (application_id, event, at)
                    SELECT 1, 'n', $1 + n * interval '1 millisecond' FROM generate_series(1, 20000) n
                    """), [.timestamp(sealing.start)])
            let before = try await sealing.entriesRead()
            #expect(try await sealing.seal(count: 1000)?.events == 1000)
            #expect(try await sealing.entriesRead() - before < 10_000)
        }
    }

    @Test func `a batch that is sealed during a verification is no fault`() async throws {
        try await with { sealing in
            let verification = AuditVerification(
                store: sealing.audit, authentication: sealing.authentication, time: SystemTime())
            async let verified: Void = {
                for _ in 0..<400 { _ = try await verification.verify(through: nil) }
            }()
            for second in 0..<200 {
                try await sealing.insert(["account.enabled": second])
                #expect(try await sealing.seal(count: 10)?.events == 1)
            }
            try await verified
        }
    }
}
