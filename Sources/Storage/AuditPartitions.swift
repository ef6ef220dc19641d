internal import Accounts
package import Postgres

/// The months of the audit: made ahead, dropped past retention.
///
/// The chain keeps the last batch of what was dropped: from there on it can still be followed.
package struct AuditPartitions: Sendable {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    private static let prepare = Statement(.write, "SELECT prepare_audit_partitions()")

    private static let drop = Statement(.write, "SELECT drop_audit_partitions(now() - $1::interval)")

    /// Of the oldest batches those whose events are gone, but for the last of them.
    private static let forgetBatches = Statement(
        .write,
        """
        WITH oldest AS (
            SELECT seq, last_at FROM audit_batches ORDER BY seq LIMIT $1
        ), kept AS (
            SELECT coalesce(min(seq) FILTER (WHERE last_at >= remaining.since) - 1, max(seq)) AS seq
              FROM oldest,
                   (SELECT coalesce(min(lower_end), '-infinity') AS since FROM audit_partitions) AS remaining
        )
        DELETE FROM audit_batches b USING kept WHERE b.seq < kept.seq
        """)

    private static let batch = 1000

    /// - Returns: how many partitions were made or dropped.
    @discardableResult
    package func tend() async throws -> Int {
        try await translatingErrors {
            let made = try await count(Self.prepare, [])
            let dropped = try await count(Self.drop, [.interval(AuditRetention.events)])
            var forgotten = 1
            while forgotten > 0, !Task.isCancelled {
                forgotten = try await database.execute(Self.forgetBatches, [.int(Self.batch)]).affected
            }
            return made + dropped
        }
    }

    private func count(_ statement: Statement, _ binds: [Bind]) async throws -> Int {
        var row = try await database.execute(statement, binds).firstOrConflict()
        return try row.next()
    }
}
