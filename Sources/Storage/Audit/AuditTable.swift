package import Accounts
package import Foundation
package import Postgres

/// Stores the chain of audit batches of all applications; the events are inserted by the statements that they describe.
package struct AuditTable: AuditChainStore {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    // MARK: - Sealing

    private static let hasUnsealed = Statement(
        .read, "SELECT 1 FROM audit_events WHERE batch IS NULL ORDER BY batch, at LIMIT 1")

    package func hasUnsealedEvents() async throws -> Bool {
        try await !database.once(Self.hasUnsealed).isEmpty
    }

    private static let lead = Statement(.write, "SELECT pg_try_advisory_xact_lock(7162534108259)")

    /// Runs after the statement that takes the lock, because that statement's snapshot is older than the lock.
    private static let selectLast = Statement(.read, "SELECT seq, mac FROM audit_batches ORDER BY seq DESC LIMIT 1")

    /// Assigns the batch's number to the oldest events without one, and to all others of the last one's time.
    ///
    /// The update finds them by the range of their times. A join would be slow: PostgreSQL keeps a plan that it made
    /// while few events waited, which compares each chosen row with every other.
    private static let number = Statement(
        .write,
        """
        WITH chosen AS MATERIALIZED (
            SELECT at
              FROM audit_events
             WHERE batch IS NULL AND at >= coalesce('epoch'::timestamptz + $3 * interval '1 microsecond', '-infinity')
             ORDER BY batch, at LIMIT $2
        ), numbered AS (
            UPDATE audit_events SET batch = $1
             WHERE batch IS NULL AND at BETWEEN (SELECT min(at) FROM chosen) AND (SELECT max(at) FROM chosen)
            RETURNING application_id, id, at, event, account, session_id, details
        )
        SELECT application_id, id, (extract(epoch FROM at) * 1000000)::int8, event, account, session_id, details::text
          FROM numbered
         ORDER BY at, application_id, id
        """)

    private static let insertBatch = Statement(
        .write,
        """
        INSERT INTO audit_batches (seq, previous, first_at, last_at, sealed_at, events, digest, mac)
        VALUES ($1, $2, 'epoch'::timestamptz + $3 * interval '1 microsecond',
                'epoch'::timestamptz + $4 * interval '1 microsecond',
                'epoch'::timestamptz + $5 * interval '1 microsecond', $6, $7, $8)
        """)

    package func seal(
        from time: Int?, count: Int, _ body: @Sendable (_ last: AuditCheckpoint?, [AuditEvent]) -> AuditBatch
    ) async throws -> AuditBatch? {
        try await translatingErrors {
            try await database.transaction { transaction -> AuditBatch? in
                var lead = try await transaction.first(Self.lead)
                guard try lead?.next(Bool.self) == true else { return nil }
                let last = try await transaction.execute(Self.selectLast)
                    .decoded { AuditCheckpoint(seq: try $0.next(), mac: try $0.next()) }.first
                let events = try await transaction.execute(
                    Self.number, .int((last?.seq ?? 0) + 1), .int(count), .int(time)
                ).map { try $0.auditEvent() }
                guard !events.isEmpty else { return nil }
                let batch = body(last, events)
                _ = try await transaction.execute(
                    Self.insertBatch, .int(batch.seq), .bytes(batch.previous), .int(batch.firstAt), .int(batch.lastAt),
                    .int(batch.sealedAt), .int(batch.events), .bytes(batch.digest), .bytes(batch.mac))
                return batch
            }
        }
    }

    // MARK: - Following the chain

    private static let batchColumns: StaticString = """
        SELECT seq, previous, (extract(epoch FROM first_at) * 1000000)::int8,
               (extract(epoch FROM last_at) * 1000000)::int8, (extract(epoch FROM sealed_at) * 1000000)::int8, events,
               digest, mac
          FROM audit_batches
        """

    private static let selectLastBatch = Statement(.read, batchColumns, "ORDER BY seq DESC LIMIT 1")

    package func lastBatch() async throws -> AuditBatch? {
        try await database.once(Self.selectLastBatch).decoded { try $0.nextAuditBatch() }.first
    }

    private static let selectBatches = Statement(.read, batchColumns, "WHERE seq > $1 ORDER BY seq LIMIT $2")

    package func batches(after seq: Int, atMost count: Int) async throws -> [AuditBatch] {
        try await database.once(Self.selectBatches, [.int(seq), .int(count)]).decoded { try $0.nextAuditBatch() }
    }

    private static let selectEventsOfBatches = Statement(
        .read,
        """
        SELECT batch, application_id, id, (extract(epoch FROM at) * 1000000)::int8, event, account, session_id,
               details::text
          FROM audit_events
         WHERE batch BETWEEN $1 AND $2
         ORDER BY batch, at, application_id, id
         LIMIT $3
        """)

    package func events(
        ofBatches batches: ClosedRange<Int>, atMost count: Int
    ) async throws -> [(batch: Int, event: AuditEvent)] {
        let binds: [Bind] = [.int(batches.lowerBound), .int(batches.upperBound), .int(count)]
        return try await database.once(Self.selectEventsOfBatches, binds).decoded { row in
            (try row.next(), try row.auditEvent())
        }
    }

    private static let selectStray = Statement(
        .read,
        """
        (SELECT batch FROM audit_events WHERE batch > $2 ORDER BY batch LIMIT 1)
        UNION ALL
        (SELECT batch FROM audit_events WHERE batch < $1 ORDER BY batch LIMIT 1)
        LIMIT 1
        """)

    package func strayBatch(outside batches: ClosedRange<Int>) async throws -> Int? {
        var row = try await database.once(Self.selectStray, [.int(batches.lowerBound), .int(batches.upperBound)]).first
        return try row?.next()
    }

    private static let selectUnsealed = Statement(
        .read,
        """
        SELECT count(*),
               coalesce(extract(epoch FROM clock_timestamp() - min(coalesce(inserted_at, at))) * 1000, 0)::int8
          FROM audit_events
         WHERE batch IS NULL
        """)

    package func unsealedEvents() async throws -> (count: Int, oldest: Duration) {
        var row = try await database.once(Self.selectUnsealed).firstOrConflict()
        return (try row.next(), .milliseconds(try row.next(Int.self)))
    }

    private static let selectSealedAt = Statement(
        .read,
        """
        SELECT (extract(epoch FROM sealed_at) * 1000000)::int8
          FROM audit_batches
         WHERE seq >= $1 AND sealed_at IS NOT NULL
         ORDER BY seq
         LIMIT 1
        """)

    package func sealedAt(from seq: Int) async throws -> Int? {
        var row = try await database.once(Self.selectSealedAt, [.int(seq)]).first
        return try row?.next()
    }

    // MARK: - Reading it

    package func auditedApplications() async throws -> [(id: Application.ID, name: String)] {
        try await ApplicationsTable(database: database).all()
    }

    private static let eventColumns: StaticString = """
        SELECT application_id, id, (extract(epoch FROM at) * 1000000)::int8, event, account, session_id, details::text
          FROM audit_events
        """

    private static let eventsAfter: StaticString = """
           AND at >= coalesce($2::timestamptz, '-infinity')
           AND (at, id) > ('epoch'::timestamptz + $3 * interval '1 microsecond', $4)
         ORDER BY at, id
         LIMIT $5
        """

    static let selectEvents = Statement(.read, eventColumns, "WHERE application_id = $1", eventsAfter)

    private static let selectEventsOfAccount = Statement(
        .read, eventColumns, "WHERE application_id = $1 AND account = $6", eventsAfter)

    package func events(
        of application: Application.ID, account: [UInt8]?, since: Date?, after last: AuditEvent?, atMost count: Int
    ) async throws -> [AuditEvent] {
        // Without a last event, the page starts at the epoch, which is earlier than every event.
        var binds: [Bind] = [
            .application(application), .timestamp(since), .int(last?.at ?? 0), .uuid(last?.id ?? .zero), .int(count),
        ]
        if let account { binds.append(.bytes(account)) }
        return try await database.once(account == nil ? Self.selectEvents : Self.selectEventsOfAccount, binds)
            .map { try $0.auditEvent() }
    }
}

extension Row {
    fileprivate mutating func nextAuditBatch() throws -> AuditBatch {
        AuditBatch(
            seq: try next(), previous: try next(), firstAt: try next(), lastAt: try next(), sealedAt: try next(),
            events: try next(), digest: try next(), mac: try next())
    }

    /// The columns of an event, from `application_id` to `details`.
    func auditEvent() throws -> AuditEvent {
        var row = self
        return try AuditEvent(
            application: row.next(), id: row.next(), at: row.next(), event: row.next(), account: row.next(),
            session: row.next(), details: row.next())
    }
}
