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
        try await translatingErrors {
            var row = try await database.execute(Self.number, [.text(name)]).firstOrConflict()
            return try row.next()
        }
    }

    private static let select = Statement(.read, "SELECT id, name FROM applications ORDER BY id")

    /// All applications that ever had a number, including those that are no longer configured.
    package func all() async throws -> [(id: Application.ID, name: String)] {
        try await translatingErrors {
            try await database.execute(Self.select).decoded { row in (try row.next(), try row.next()) }
        }
    }
}

extension Application.ID: PostgresDecodable {}

extension Bind {
    package static func application(_ id: Application.ID) -> Bind { .int4(id.rawValue) }
}
