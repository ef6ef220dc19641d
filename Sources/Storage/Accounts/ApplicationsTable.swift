package import Accounts
package import Postgres

/// Assigns each application the number that represents it in all other tables.
package struct ApplicationsTable: Sendable {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    /// Returns the application's number, which never changes, and assigns one if there is none.
    ///
    /// The update changes no value; it returns the row to a statement that lost the race to insert it.
    private static let number = Statement(
        .write,
        """
        INSERT INTO applications (name) VALUES ($1)
        ON CONFLICT (name) DO UPDATE SET name = excluded.name
        RETURNING id
        """)

    package func number(of name: String) async throws -> Application.ID {
        var row = try await database.once(Self.number, [.text(name)]).firstOrConflict()
        return try row.next()
    }

    private static let selectAll = Statement(.read, "SELECT id, name FROM applications ORDER BY id")

    /// All applications that ever had a number, including those that are no longer configured.
    package func all() async throws -> [(id: Application.ID, name: String)] {
        try await select(Self.selectAll, [])
    }

    /// The applications that the statement selects.
    func select(_ statement: Statement, _ binds: [Bind]) async throws -> [(id: Application.ID, name: String)] {
        try await database.once(statement, binds).decoded { row in (try row.next(), try row.next()) }
    }
}

/// Statements that select the applications in which something is due, including those that are no longer configured.
///
/// They lock nothing, and are the only statements of queues that read the rows of all applications. With `IN`,
/// PostgreSQL can stop at the first due row of each application. Citus refuses a correlated `EXISTS`.
extension Statement {
    /// `$1`: the channels.
    static let applicationsWithDueMessages = Statement(
        .read,
        """
        SELECT id, name FROM applications
         WHERE id IN (SELECT o.application_id FROM outbox o
                       WHERE o.sent_at IS NULL AND o.failed_at IS NULL AND o.channel = ANY ($1) AND o.due_at <= now())
        """)

    /// `$1`: the URLs of webhooks.
    static let applicationsWithDueDeliveries = Statement(
        .read,
        """
        SELECT id, name FROM applications
         WHERE id IN (SELECT w.application_id FROM webhook_deliveries w
                       WHERE w.acknowledged_at IS NULL AND w.failed_at IS NULL AND w.webhook = ANY ($1)
                         AND w.due_at <= now())
        """)

    /// Selects those with deliveries to other webhooks than `$1` that have been due for `$2`.
    ///
    /// The URLs in `$1` are in the order of their bytes. The statement reads the index between each two of them, and
    /// skips the deliveries that wait for these, which may be many. No URL is greater than `~`.
    static let applicationsWithOverdueDeliveries = Statement(
        .read,
        """
        SELECT id, name FROM applications
         WHERE id IN (SELECT w.application_id
                        FROM unnest('{""}'::text[] || $1, $1 || '{~}'::text[]) AS gap (low, high)
                        JOIN webhook_deliveries w ON w.webhook > gap.low AND w.webhook < gap.high
                       WHERE w.acknowledged_at IS NULL AND w.failed_at IS NULL AND w.due_at < now() - $2::interval)
        """)

    static let applicationsWithDueRevocations = Statement(
        .read,
        """
        SELECT id, name FROM applications
         WHERE id IN (SELECT r.application_id FROM token_revocations r
                       WHERE r.revoked_at IS NULL AND r.failed_at IS NULL AND r.due_at <= now())
        """)

    static let applicationsWithDueErasures = Statement(
        .read,
        """
        SELECT id, name FROM applications
         WHERE id IN (SELECT e.application_id FROM erasures e
                       WHERE e.restored_at IS NULL AND e.erased_at IS NULL
                         AND coalesce(e.look_again_at, e.purge_after) <= now())
        """)

    static let applicationsWithDisablingsThatEnd = Statement(
        .read,
        """
        SELECT id, name FROM applications
         WHERE id IN (SELECT a.application_id FROM accounts a WHERE a.disabled_until <= now())
        """)
}

extension Application.ID: PostgresDecodable {}

extension Bind {
    package static func application(_ id: Application.ID) -> Bind { .int4(id.rawValue) }
}
