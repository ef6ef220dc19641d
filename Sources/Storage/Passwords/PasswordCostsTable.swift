package import Accounts
package import Postgres

/// Counts the stored passwords by application and by the cost parameters of their hashes.
package struct PasswordCostsTable: Sendable {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    /// The approximate maximum number of rows that are read.
    ///
    /// In a larger table, the count is of a sample, which is always taken from the same pages.
    private static let sample = 100_000.0

    private static let size = Statement(
        .read, "SELECT greatest(reltuples, 0)::float8 FROM pg_class WHERE oid = 'passwords'::regclass")

    private static let select = Statement(
        .read,
        """
        SELECT application_id, split_part(hash, '$', 4), count(*)
          FROM passwords TABLESAMPLE SYSTEM ($1::float8) REPEATABLE (0)
         GROUP BY 1, 2
        """)

    /// Returns the counts of the rows that were read.
    ///
    /// `costs` is the field `m=…,t=…,p=…` of the hash.
    package func read() async throws -> [(application: Application.ID, costs: String, count: Int)] {
        var size = try await database.execute(Self.size).first
        let rows: Double = try size?.next() ?? 0
        let percent = min(100, 100 * Self.sample / max(rows, 1))
        return try await database.execute(Self.select, .double(percent)).decoded { row in
            (try row.next(Application.ID.self), try row.next(), try row.next())
        }
    }
}
