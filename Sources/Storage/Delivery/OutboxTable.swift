package import Accounts
internal import Foundation
package import Postgres

/// Takes messages to send from the outbox and records their outcome.
///
/// In the SQL, a lane is a channel with the number of messages to take from it.
package struct OutboxTable: OutboxQueue {
    private let database: Database
    private let turns: ApplicationTurns
    private let sealing: any Sealing
    package let arrivals: AsyncStream<Void>

    package init(database: Database, sealing: any Sealing, arrivals: AsyncStream<Void>) {
        self.database = database
        turns = ApplicationTurns(.applicationsWithDueMessages, database: database)
        self.sealing = sealing
        self.arrivals = arrivals
    }

    private static let take = Statement(
        .write,
        """
        WITH due AS MATERIALIZED (
            SELECT d.id
              FROM unnest($2::text[], $3::bigint[]) AS lane (channel, places)
             CROSS JOIN LATERAL (
                   SELECT id FROM outbox
                    WHERE application_id = $1 AND sent_at IS NULL AND failed_at IS NULL AND channel = lane.channel
                      AND due_at <= now()
                    ORDER BY due_at
                    LIMIT lane.places
                      FOR UPDATE SKIP LOCKED) d
        ), taken AS (
            UPDATE outbox o
               SET due_at = now() + $4::interval, leased_until = now() + $4::interval, attempts = attempts + 1
              FROM due
             WHERE o.application_id = $1 AND o.id = due.id
            RETURNING o.id, o.sealed, o.attempts - 1 AS attempts, o.requeued_at, o.created_at
        )
        SELECT id, sealed, attempts, requeued_at, coalesce(requeued_at, created_at) > now() - $5::interval
          FROM taken
         ORDER BY id
        """)

    /// How long a message is kept that this version can open but not decode.
    ///
    /// During an upgrade it may be one of the newer version, whose servers take messages from the same queue.
    private static let unknownLifetime: Duration = .seconds(24 * 3600)
    /// The pause before it is taken again.
    private static let unknownPause: Duration = .seconds(60)

    package func take(_ places: [MessageChannel: Int], lease: Duration) async throws -> [TakenMessage] {
        try await turns.take(places, dueBy: [.texts(places.keys.map(\.rawValue))]) {
            try await take($2, of: $0, named: $1, lease: lease)
        }
    }

    private func take(
        _ places: [MessageChannel: Int], of application: Application.ID, named name: String, lease: Duration
    ) async throws -> [TakenMessage] {
        let lanes = Array(places)
        let rows = try await database.once(
            Self.take,
            [
                .application(application), .texts(lanes.map(\.key.rawValue)), .ints(lanes.map(\.value)),
                .interval(lease), .interval(Self.unknownLifetime),
            ])
        var messages: [TakenMessage] = []
        for var row in rows {
            let id: UUID = try row.next()
            let sealed: [UInt8]? = try row.next()
            let attempts: Int = try row.next()
            let requeuedAt: Date? = try row.next()
            let isWithinLifetime: Bool = try row.next()
            let place = SealingPlace.outbox(application: application, id: id)
            guard let message: Message = sealing.decoded(sealed, at: place) else {
                let isOpened = sealed.flatMap { try? sealing.open($0, at: place) } != nil
                try await markFailed(
                    id, application: application, reason: isOpened ? "unknown-content" : "unreadable",
                    retryAfter: isOpened && isWithinLifetime ? Self.unknownPause : nil, attempts: attempts)
                continue
            }
            messages.append(
                TakenMessage(
                    message: message, application: application, applicationName: name, attempts: attempts,
                    requeuedAt: requeuedAt))
        }
        return messages
    }

    private static let markSent = Statement(
        .write,
        """
        UPDATE outbox
           SET sent_at = now(), failed_at = NULL, sealed = NULL, recipient = NULL, failure = NULL, leased_until = NULL
         WHERE application_id = $1 AND id = $2
        """)

    package func markDelivered(_ entry: TakenMessage) async throws {
        try await database.once(Self.markSent, [.application(entry.application), .uuid(entry.message.id)])
    }

    /// Leaves a message that another worker has taken meanwhile, because this one's lease had ended.
    private static let markFailed = Statement(
        .write,
        """
        UPDATE outbox
           SET due_at = clock.now + coalesce($3, interval '0'), failure = $4, leased_until = NULL,
               failed_at = CASE WHEN $3::interval IS NULL THEN clock.now END
          FROM (SELECT now() AS now) AS clock
         WHERE application_id = $1 AND id = $2 AND attempts = $5 AND sent_at IS NULL
        """)

    package func markFailed(_ entry: TakenMessage, reason: String, retryAfter delay: Duration?) async throws {
        try await markFailed(
            entry.message.id, application: entry.application, reason: reason, retryAfter: delay,
            attempts: entry.attempts)
    }

    private func markFailed(
        _ id: UUID, application: Application.ID, reason: String, retryAfter delay: Duration?, attempts: Int
    ) async throws {
        try await database.once(
            Self.markFailed,
            [.application(application), .uuid(id), .interval(delay), .text(reason), .int(attempts + 1)])
    }

    /// Counts a text message once, in a row for its number range and in a row for all ranges.
    ///
    /// Each count restarts with its window, and a null limit means no limit. A message that one limit
    /// refuses does not count toward the other. Only if several are counted at the same moment, and the total has room for
    /// few of them, may all count toward their ranges.
    private static let count = Statement(
        .write,
        """
        WITH message AS (
            SELECT 1 FROM outbox WHERE application_id = $1 AND id = $2 AND counted_at IS NULL FOR UPDATE
        ), room AS MATERIALIZED (
            SELECT 1 FROM message
             WHERE NOT EXISTS (
                   SELECT 1 FROM text_budget
                    WHERE scope = 'all' AND window_start = date_bin($7::interval, now(), 'epoch') AND counted >= $6)
        ), ranged AS (
            INSERT INTO text_budget AS b (scope, window_start, counted)
            SELECT $3, date_bin($5::interval, now(), 'epoch'), 1 FROM room
            ON CONFLICT (scope) DO UPDATE SET
                counted = CASE WHEN b.window_start = excluded.window_start THEN b.counted + 1 ELSE 1 END,
                window_start = excluded.window_start
             WHERE $4::int IS NULL OR b.window_start <> excluded.window_start OR b.counted < $4
            RETURNING 1
        ), everything AS (
            INSERT INTO text_budget AS b (scope, window_start, counted)
            SELECT 'all', date_bin($7::interval, now(), 'epoch'), 1 FROM ranged
            ON CONFLICT (scope) DO UPDATE SET
                counted = CASE WHEN b.window_start = excluded.window_start THEN b.counted + 1 ELSE 1 END,
                window_start = excluded.window_start
             WHERE $6::int IS NULL OR b.window_start <> excluded.window_start OR b.counted < $6
            RETURNING 1
        ), marked AS (
            UPDATE outbox SET counted_at = now()
             WHERE application_id = $1 AND id = $2 AND EXISTS (SELECT 1 FROM everything)
        )
        SELECT NOT EXISTS (SELECT 1 FROM message) OR EXISTS (SELECT 1 FROM everything)
        """)

    package func count(_ entry: TakenMessage, toward budget: TextBudget, range: String) async throws -> Bool {
        let hour = Duration.seconds(3600)
        let rows = try await database.once(
            Self.count,
            [
                .application(entry.application), .uuid(entry.message.id), .text(range),
                .int4(budget.perRange.map { Int32(clamping: $0.count) }), .interval(budget.perRange?.window ?? hour),
                .int4(budget.total.map { Int32(clamping: $0.count) }), .interval(budget.total?.window ?? hour),
            ])
        guard var row = rows.first else { return false }
        return try row.next(Bool.self)
    }
}
