internal import Accounts
package import Postgres

package struct RootKeyTable: RootKeyStore {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    private static let select = Statement(.read, "SELECT wrapped FROM root_key")

    package func wrappedRootKey() async throws -> [UInt8]? {
        var row = try await database.once(Self.select).first
        return try row?.next()
    }

    /// The update changes no value; it returns the row to a statement that lost the race to insert it.
    private static let insert = Statement(
        .write,
        """
        INSERT INTO root_key AS k (wrapped) VALUES ($1)
        ON CONFLICT (only_row) DO UPDATE SET wrapped = k.wrapped
        RETURNING wrapped
        """)

    package func insertWrappedRootKey(_ wrapped: [UInt8]) async throws -> [UInt8] {
        var row = try await database.once(Self.insert, [.bytes(wrapped)]).firstOrConflict()
        return try row.next()
    }

    private static let replace = Statement(
        .write, "UPDATE root_key SET wrapped = $2, updated_at = now() WHERE wrapped = $1")

    package func replaceWrappedRootKey(_ old: [UInt8], with new: [UInt8]) async throws {
        try await database.once(Self.replace, [.bytes(old), .bytes(new)])
    }
}
