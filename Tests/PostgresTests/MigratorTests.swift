import Foundation
import GatehouseTesting
import Postgres
import Testing

@testable import struct Postgres.Migrator

@Suite struct MigratorTests {
    private let first = Migration(version: 1, name: "first", sql: "CREATE TABLE a (n int); INSERT INTO a VALUES (1);")
    private let second = Migration(version: 2, name: "second", sql: "CREATE TABLE b (n int);")

    @Test func serversThatStartAtOnceApplyEachMigrationOnce() async throws {
        let url = try await TemporaryPostgres.database()
        let all = [second, first] + (3...6).map { Migration(version: $0, name: "m", sql: "CREATE TABLE t\($0) ()") }
        let applied = try await withThrowingTaskGroup(of: [Migration].self) { group in
            for _ in 0..<3 {
                group.addTask {
                    try await withDatabase(url: url) { try await Migrator(database: $0, migrations: all).migrate() }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied.map(\.version).sorted() == Array(1...6))
        try await withDatabase(url: url) { database in
            #expect(try await Migrator(database: database, migrations: all).isCurrent())
            let count: Int = try await database.value(.countA)
            #expect(count == 1)
        }
    }

    @Test func aDatabaseIsCurrentOnceAllIsApplied() async throws {
        try await withDatabase { database in
            let one = Migrator(database: database, migrations: [first])
            let two = Migrator(database: database, migrations: [first, second])
            #expect(try await !one.isCurrent())
            _ = try await one.migrate()
            #expect(try await one.isCurrent())
            #expect(try await !two.isCurrent())
            #expect(try await two.migrate() == [second])
            // While servers are replaced, the previous version still serves.
            #expect(try await one.isCurrent())
            #expect(await thrown { try await one.migrate() }?.description.contains("newer than this program") == true)
        }
    }

    @Test func aFailingMigrationLeavesNothing() async throws {
        try await withDatabase { database in
            let broken = Migration(version: 2, name: "broken", sql: "CREATE TABLE b (n int); SELEKT; ")
            let migrator = Migrator(database: database, migrations: [first, broken])
            let error = await thrown { try await migrator.migrate() }
            #expect(error?.description.contains("2_broken failed: 42601") == true)
            let repaired = try await Migrator(database: database, migrations: [first, second]).migrate()
            #expect(repaired == [second])
        }
    }

    @Test(
        arguments: [
            ([1, 2], [], 1), ([1, 2], [1], 2), ([1, 2], [1, 2], nil), ([], [], nil), ([1, 5], [1], 5),
        ] as [([Int], [Int], Int?)])
    func theNextIsTheFirstMissing(known: [Int], applied: [Int], expected: Int?) throws {
        let next = try Migrator.next(of: known.map(migration), after: applied.map(record))
        #expect(next?.version == expected)
    }

    @Test(arguments: [
        ([1], [1, 2], "newer"), ([1, 2, 3], [1, 3], "comes before"), ([1, 3], [1, 2], "does not know"),
        ([1, 1], [], "two migrations"),
    ])
    func anotherHistoryIsRefused(known: [Int], applied: [Int], message: String) {
        let error = #expect(throws: PostgresError.self) {
            try Migrator.next(of: known.map(migration), after: applied.map(record))
        }
        #expect(error?.description.contains(message) == true)
    }

    @Test(
        arguments: [
            ("SELECT 1; SELECT 2;", ["SELECT 1", " SELECT 2"]), ("SELECT 1", ["SELECT 1"]), (" ; ;\n-- a; b\n", []),
            ("SELECT 'it''s; '; SELECT 2", ["SELECT 'it''s; '", " SELECT 2"]),
            ("SELECT \"a;b\" /* ; */; DO $x$ ; $$ ; $x$;", ["SELECT \"a;b\" /* ; */", " DO $x$ ; $$ ; $x$"]),
            ("SELECT $1;SELECT $$;", ["SELECT $1", "SELECT $$;"]),
        ] as [(String, [String])])
    func `the statements of a migration end at semicolons that are not quoted`(sql: String, statements: [String]) {
        #expect(Migration(version: 1, name: "m", sql: sql).statements == statements)
    }

    @Test func aChangedMigrationIsRefused() async throws {
        try await withDatabase { database in
            _ = try await Migrator(database: database, migrations: [first]).migrate()
            let changed = Migration(version: 1, name: "first", sql: first.sql + " ")
            let migrator = Migrator(database: database, migrations: [changed])
            #expect(
                await thrown { try await migrator.migrate() }
                    == .migration("1_first was changed after it had been applied"))
            #expect(try await !migrator.isCurrent())
        }
    }

    @Test func aMigrationThatNamesItsEarlierTextIsApplied() async throws {
        try await withDatabase { database in
            _ = try await Migrator(database: database, migrations: [first]).migrate()
            let checksum = first.checksum.map { String(format: "%02x", $0) }.joined()
            let changed = Migration(version: 1, name: "first", sql: "-- Replaces \(checksum)\n\(first.sql) ")
            let migrator = Migrator(database: database, migrations: [changed])
            #expect(try await migrator.migrate().isEmpty)
            #expect(try await migrator.isCurrent())
        }
    }

    private func migration(_ version: Int) -> Migration {
        Migration(version: version, name: "m", sql: "")
    }

    private func record(_ version: Int) -> Migrator.Applied {
        Migrator.Applied(version: version, checksum: migration(version).checksum)
    }
}

extension Statement {
    fileprivate static let countA = Self(.read, "SELECT count(*) FROM a")
}
