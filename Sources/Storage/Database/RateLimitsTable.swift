package import Accounts
package import Postgres

/// Stores rate limits in an unlogged table: a crash of the database resets them and loses nothing else.
///
/// A row holds the time when the subject will have its whole limit again (GCRA, the theoretical arrival time of ITU-T
/// I.371). Each call moves that time by one interval, at most to one window ahead of now.
package struct RateLimitsTable: RateCounter {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    /// The key's row is locked before the block's.
    ///
    /// The inserted time is one interval after the call, so a call is refused if the row's time is later by more than
    /// the window minus two intervals.
    ///
    /// Under contention, calls may lock the row in another order than they were made, because the time of a call is
    /// read before it waits for the lock. An admitted call never moves the row's time back. A refused call limits it to
    /// one window after its own time, so a later call may be admitted too early, by at most the time that the refused
    /// call waited. The lock timeout bounds that time.
    private static let take = Statement(
        .write,
        """
        WITH own AS (
            INSERT INTO rate_limits AS l (application_id, name, subject, full_at)
            VALUES ($1, $2, $3, clock_timestamp() + $4::interval)
            ON CONFLICT (application_id, name, subject) DO UPDATE
               SET full_at = CASE WHEN l.full_at - excluded.full_at > $5::interval - $4::interval * 2
                       THEN least(l.full_at, (excluded.full_at AT TIME ZONE 'UTC' + ($5::interval - $4::interval))
                                             AT TIME ZONE 'UTC')
                       ELSE greatest((l.full_at AT TIME ZONE 'UTC' + $4::interval) AT TIME ZONE 'UTC', excluded.full_at)
                       END,
                   is_refused = l.full_at - excluded.full_at > $5::interval - $4::interval * 2
            RETURNING is_refused, full_at
        ), block AS (
            INSERT INTO rate_limits AS l (application_id, name, subject, full_at)
            SELECT $1, $6, $7, clock_timestamp() + $8::interval FROM own WHERE NOT is_refused AND $7::bytea IS NOT NULL
            ON CONFLICT (application_id, name, subject) DO UPDATE
               SET full_at = CASE WHEN l.full_at - excluded.full_at > $9::interval - $8::interval * 2
                       THEN least(l.full_at, (excluded.full_at AT TIME ZONE 'UTC' + ($9::interval - $8::interval))
                                             AT TIME ZONE 'UTC')
                       ELSE greatest((l.full_at AT TIME ZONE 'UTC' + $8::interval) AT TIME ZONE 'UTC', excluded.full_at)
                       END,
                   is_refused = l.full_at - excluded.full_at > $9::interval - $8::interval * 2
            RETURNING is_refused, full_at
        )
        SELECT is_block, (extract(epoch FROM one_at - clock_timestamp()) * 1000000)::bigint
          FROM (SELECT false AS is_block, full_at + $4::interval - $5::interval AS one_at FROM own WHERE is_refused
                UNION ALL
                SELECT true, full_at + $8::interval - $9::interval FROM block WHERE is_refused) AS refused
        """)

    package func take(_ key: RateKey, in block: RateKey?) async throws -> RateRefusal? {
        let binds: [Bind] = [
            .application(key.application), .text(key.name), .bytes(key.subject), .interval(key.rate.interval),
            .interval(key.rate.window), .text(block?.name), .bytes(block?.subject),
            .interval((block ?? key).rate.interval), .interval((block ?? key).rate.window),
        ]
        let rows = try await retryingOnConflict { try await database.once(Self.take, binds) }
        guard var row = rows.first else { return nil }
        let isBlock: Bool = try row.next()
        let wait: Int = try row.next()
        return RateRefusal(key: isBlock ? block ?? key : key, wait: .microseconds(max(0, wait)))
    }
}

extension RateKey {
    /// The limit's name with its count and its window in seconds, as in `login 5/60`.
    var name: String {
        "\(limit.rawValue) \(rate.count)/\(rate.window.components.seconds)"
    }
}
