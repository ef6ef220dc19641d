package import Accounts
package import Postgres

/// Rate limits in an unlogged table: what a crash forgets is who was how close to a limit.
///
/// A row says when the subject will have its whole limit again (GCRA, the theoretical arrival time of ITU-T I.371):
/// each call moves it one interval on, and none may move it farther than a window ahead.
package struct RateLimitsTable: RateCounter {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    /// The time is taken once, when the row is locked.
    ///
    /// Nobody waits longer than an interval, wherever the clock went.
    private static let take = Statement(
        .write,
        """
        INSERT INTO rate_limits AS l (application_id, name, subject, full_at)
        VALUES ($1, $2, $3, clock_timestamp() + $4::interval)
        ON CONFLICT (application_id, name, subject) DO UPDATE
           SET (full_at, is_refused) = (
               SELECT CASE WHEN next <= t + $5::interval THEN next ELSE least(l.full_at, t + $5::interval) END,
                      next > t + $5::interval
                 FROM (SELECT t, greatest(l.full_at, t) + $4::interval AS next
                         FROM (SELECT clock_timestamp() AS t) AS clock) AS moved)
        RETURNING is_refused,
                  (extract(epoch FROM full_at + $4::interval - $5::interval - clock_timestamp()) * 1000000)::bigint
        """)

    package func take(_ key: RateKey) async throws -> Duration? {
        let binds: [Bind] = [
            .int4(key.application), .text(key.name), .bytes(key.subject), .interval(key.rate.interval),
            .interval(key.rate.window),
        ]
        let rows = try await decidingAgain {
            try await translatingErrors { try await database.execute(Self.take, binds) }
        }
        guard var row = rows.first else { throw AccountsError.unavailable }
        let isRefused: Bool = try row.next()
        let wait: Int = try row.next()
        return isRefused ? .microseconds(max(0, wait)) : nil
    }
}

extension RateKey {
    /// As in `login 5/60`, the window in seconds.
    fileprivate var name: String {
        "\(limit.rawValue) \(rate.count)/\(rate.window.components.seconds)"
    }
}
