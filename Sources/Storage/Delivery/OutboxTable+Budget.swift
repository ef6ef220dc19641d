package import Accounts
package import Foundation
internal import Postgres

extension OutboxTable {
    /// One row for a range and one for all, each begun anew with its window; a limit of null lets everything pass.
    ///
    /// The range comes first: what is pumped to one of them uses nothing of what the others share.
    private static let count = Statement(
        .write,
        """
        WITH message AS (
            SELECT 1 FROM outbox WHERE application_id = $1 AND id = $2 AND counted_at IS NULL FOR UPDATE
        ), ranged AS (
            INSERT INTO text_budget AS b (scope, window_start, counted)
            SELECT $3, date_bin($5::interval, now(), 'epoch'), 1 FROM message
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
             WHERE application_id = $1 AND id = $2 AND EXISTS (SELECT FROM everything)
        )
        SELECT NOT EXISTS (SELECT FROM message) OR EXISTS (SELECT FROM everything)
        """)

    package func count(
        _ id: UUID, toward budget: TextBudget, range: String, application: Application.ID
    ) async throws -> Bool {
        let hour = Duration.seconds(3600)
        let rows = try await translatingErrors {
            try await database.execute(
                Self.count,
                [
                    .application(application), .uuid(id), .text(range),
                    .int4(budget.perRange.map { Int32(clamping: $0.count) }),
                    .interval(budget.perRange?.window ?? hour),
                    .int4(budget.total.map { Int32(clamping: $0.count) }),
                    .interval(budget.total?.window ?? hour),
                ])
        }
        guard var row = rows.first else { return false }
        return try row.next(Bool.self)
    }
}
