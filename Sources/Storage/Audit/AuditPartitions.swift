internal import Accounts
package import Postgres

/// The monthly partitions of the audit events, created in advance and dropped when they are past retention.
///
/// The chain keeps the last dropped batch, so that the remaining batches can still be verified.
package struct AuditPartitions: Sendable {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    private static let prepare = Statement(.write, "SELECT prepare_audit_partitions()")

    private static let drop = Statement(.write, "SELECT drop_audit_partitions(now() - $1::interval)")

    /// Deletes the batches past retention whose events have been dropped, except for the last one.
    private static let forgetBatches = Statement(
        .write,
        """
        WITH past AS (
            SELECT seq FROM audit_batches WHERE sealed_at < now() - $2::interval ORDER BY sealed_at DESC LIMIT 1
        ), kept AS (
            SELECT least(seq, (SELECT min(batch) FROM audit_events) - 1) AS seq FROM past
        )
        DELETE FROM audit_batches WHERE seq IN (
            SELECT b.seq FROM audit_batches b, kept WHERE b.seq < kept.seq ORDER BY b.seq LIMIT $1)
        """)

    private static let batch = 1000

    /// - Returns: the number of partitions that were created or dropped.
    @discardableResult
    package func tend() async throws -> Int {
        try await translatingErrors {
            let retention = Bind.interval(AuditRetention.events + AuditRetention.margin)
            // A failure to create one month must not prevent dropping another.
            var made = Result<Int, any Error>.success(0)
            do {
                // The lock is often taken where statements are slow, as on Citus.
                made = .success(
                    try await retryingUnderContention {
                        try await translatingErrors { try await count(Self.prepare, []) }
                    })
            } catch { made = .failure(error) }
            let dropped = try await count(Self.drop, [retention])
            var forgotten = 1
            while forgotten > 0, !Task.isCancelled {
                forgotten = try await database.execute(Self.forgetBatches, [.int(Self.batch), retention]).affected
            }
            return try made.get() + dropped
        }
    }

    private func count(_ statement: Statement, _ binds: [Bind]) async throws -> Int {
        var row = try await database.execute(statement, binds).firstOrConflict()
        return try row.next()
    }
}
