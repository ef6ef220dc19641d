internal import Accounts
package import Postgres

/// The amounts of background work that is waiting.
package struct Backlog: Sendable {
    /// Audit events without a seal.
    package var unsealedEvents = 0
    /// The age of the oldest of them, in seconds.
    package var oldestUnsealed = 0
    /// Accounts whose grace period is over.
    package var dueErasures = 0
    /// How long ago the first of these grace periods ended, in seconds.
    package var oldestDue = 0
    /// Erasures that wait for webhooks and upstream services.
    package var waitingErasures = 0

    package init() {}
}

package struct BacklogTable: Sendable {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    private static let select = Statement(
        .read,
        """
        SELECT (SELECT count(*) FROM audit_events WHERE batch IS NULL),
               (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(coalesce(inserted_at, at))), 0)::int8
                  FROM audit_events WHERE batch IS NULL),
               (SELECT count(*) FROM accounts WHERE purge_after <= now()),
               (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(purge_after)), 0)::int8
                  FROM accounts WHERE purge_after <= now()),
               (SELECT count(*) FROM erasures
                 WHERE began_at IS NOT NULL AND restored_at IS NULL AND erased_at IS NULL)
        """)

    /// The sessions that have a session bearer and still last.
    private static let selectLiveBearers = Statement(
        .read,
        """
        SELECT count(*)
          FROM session_bearers b
          JOIN sessions s ON s.application_id = b.application_id AND s.id = b.session_id
         WHERE b.idle_until > now() AND s.ended_at IS NULL AND s.expires_at > now()
        """)

    package func liveBearers() async throws -> Int {
        var row = try await database.once(Self.selectLiveBearers).firstOrConflict()
        return try row.next()
    }

    package func look() async throws -> Backlog {
        var row = try await database.once(Self.select).firstOrConflict()
        var backlog = Backlog()
        backlog.unsealedEvents = try row.next()
        backlog.oldestUnsealed = try row.next()
        backlog.dueErasures = try row.next()
        backlog.oldestDue = try row.next()
        backlog.waitingErasures = try row.next()
        return backlog
    }
}
