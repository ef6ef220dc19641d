import Crypto
import Logging

/// One forward step of the schema, in plain SQL.
package struct Migration: Sendable, Equatable {
    package let version: Int
    package let name, sql: String

    package init(version: Int, name: String, sql: String) { (self.version, self.name, self.sql) = (version, name, sql) }
    package var checksum: [UInt8] { Array(SHA256.hash(data: Array(sql.utf8))) }
    var label: String { "\(version)_\(name)" }

    /// Whether this migration, or an earlier text of it with the same effect, has the checksum.
    ///
    /// A line `-- Replaces <checksum>` of the migration names the earlier text.
    func isRecorded(as recorded: [UInt8]) -> Bool {
        let hexadecimal = recorded.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return checksum == recorded || sql.contains("-- Replaces \(hexadecimal)\n")
    }
}

/// Applies the missing migrations, each in a transaction of its own.
///
/// An advisory lock admits one of several servers at a time, which then checks again which migrations are missing.
package struct Migrator: Sendable {
    struct Applied: Equatable {
        let version: Int
        let checksum: [UInt8]
    }

    /// The advisory lock that admits one change of the schema at a time.
    static let lock = 7_162_534_108_241

    /// The number of attempts at a migration that conflicts with the locks of other transactions.
    private static let attempts = 10

    private let database: Database
    private let migrations: [Migration]

    package init(database: Database, migrations: [Migration]) {
        self.database = database
        self.migrations = migrations.sorted { $0.version < $1.version }
    }

    package func migrate() async throws -> [Migration] {
        try await requireUTF8()
        var applied: [Migration] = []
        while let migration = try await applyNext() { applied.append(migration) }
        return applied
    }

    /// Whether every migration of this program is applied.
    ///
    /// A database with further migrations is current too, since servers are replaced one by one.
    package func isCurrent() async throws -> Bool {
        guard var ledger = try await database.first(.ledgerExists), try ledger.next() else { return false }
        let checksums = try await Applied.read(from: database).reduce(into: [:]) { $0[$1.version] = $1.checksum }
        return migrations.allSatisfy { checksums[$0.version].map($0.isRecorded) ?? false }
    }

    /// Refuses an encoding that can't hold every text; PostgreSQL would refuse such a text when it is stored.
    private func requireUTF8() async throws {
        guard var row = try await database.first(.serverEncoding) else { return }
        let encoding: String = try row.next()
        guard encoding == "UTF8" else {
            throw PostgresError.migration(
                "the database's encoding is \(encoding); create the database with ENCODING 'UTF8' TEMPLATE template0")
        }
    }

    private func applyNext() async throws -> Migration? {
        for _ in 1..<Self.attempts {
            do {
                return try await database.transaction(apply)
            } catch let error as PostgresError where error.isRetryable {
                continue
            }
        }
        return try await database.transaction(apply)
    }

    private func apply(in transaction: Transaction) async throws -> Migration? {
        try await transaction.script(Self.enter)
        let applied = try await Applied.read(from: transaction)
        guard let migration = try Self.next(of: migrations, after: applied) else { return nil }
        do {
            // One by one, because Citus sends the whole text that contains an ALTER TABLE to the workers.
            for statement in migration.statements { try await transaction.script(statement) }
        } catch {
            throw error.naming(migration)
        }
        _ = try await transaction.execute(
            .recordMigration, .int(migration.version), .text(migration.name), .bytes(migration.checksum))
        return migration
    }

    /// The first migration that is not applied yet.
    /// - Throws: if the migrations that are applied differ from those of this program.
    static func next(of migrations: [Migration], after applied: [Applied]) throws(PostgresError) -> Migration? {
        for (migration, next) in zip(migrations, migrations.dropFirst()) where migration.version == next.version {
            throw .migration("two migrations have the version \(next.version)")
        }
        for (index, record) in applied.enumerated() {
            guard index < migrations.count else {
                throw .migration("the database is newer than this program: it has version \(record.version)")
            }
            let migration = migrations[index]
            guard migration.version >= record.version else {
                throw .migration("\(migration.label) comes before version \(record.version), which is applied already")
            }
            guard migration.version == record.version else {
                throw .migration("version \(record.version) is applied, but this program does not know it")
            }
            guard migration.isRecorded(as: record.checksum) else {
                throw .migration("\(migration.label) was changed after it had been applied")
            }
        }
        return applied.count < migrations.count ? migrations[applied.count] : nil
    }

    /// The statements at the start of each migration's transaction.
    ///
    /// They wait for the advisory lock without a time limit. Later statements have no time limit either but wait for
    /// locks on tables only briefly, because a statement that waits for an exclusive lock blocks all others on the
    /// table. Citus needs the sequential mode for a transaction that changes tables and functions. With
    /// `Distribution.setting`, it leaves new tables alone until `Distribution` distributes them. Plain PostgreSQL ignores
    /// both settings.
    private static let enter = """
        SET LOCAL statement_timeout = 0;
        SET LOCAL lock_timeout = 0;
        SET LOCAL idle_in_transaction_session_timeout = 0;
        SELECT pg_advisory_xact_lock(\(lock));
        SET LOCAL lock_timeout = '3s';
        SET LOCAL citus.multi_shard_modify_mode = 'sequential';
        SET LOCAL \(Distribution.setting);
        CREATE TABLE IF NOT EXISTS gatehouse_migrations (
            version bigint PRIMARY KEY,
            name text NOT NULL,
            checksum bytea NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now()
        );
        """
}

extension Migrator.Applied {
    fileprivate static func read(from executor: some Executor) async throws(PostgresError) -> [Self] {
        try await executor.execute(.appliedMigrations).map(Self.init)
    }

    private init(_ row: Row) throws(PostgresError) {
        var row = row
        self.init(version: try row.next(), checksum: try row.next())
    }
}

extension PostgresError {
    /// Adds the migration's name to the server's error; returns retryable and other errors unchanged.
    fileprivate func naming(_ migration: Migration) -> Self {
        guard case .server = self, !isRetryable else { return self }
        return .migration("\(migration.label) failed: \(fault)")
    }
}

extension Statement {
    fileprivate static let ledgerExists = Self(.read, "SELECT to_regclass('gatehouse_migrations') IS NOT NULL")
    fileprivate static let serverEncoding = Self(.read, "SELECT current_setting('server_encoding')")
    fileprivate static let appliedMigrations = Self(
        .read, "SELECT version, checksum FROM gatehouse_migrations ORDER BY version")
    fileprivate static let recordMigration = Self(
        .write, "INSERT INTO gatehouse_migrations (version, name, checksum) VALUES ($1, $2, $3)")
}
