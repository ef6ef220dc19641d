import Accounts
import GatehouseTesting
import Logging
import Postgres
import Testing

@testable import Storage

struct OpenTransactionTests {
    private func withTable(_ body: (Database) async throws -> Void) async throws {
        let url = try await TemporaryPostgres.database()
        let database = Database(Database.Configuration(url: url), logger: Logger(label: "test"))
        database.start()
        do {
            _ = try await database.execute(.makeTable)
            try await body(database)
            await database.stop()
        } catch {
            await database.stop()
            throw error
        }
    }

    private func inTransaction(
        _ database: Database, _ body: (OpenTransaction) async throws -> Void
    ) async throws {
        try await database.transaction { transaction in
            let open = OpenTransaction(transaction)
            try await body(open)
            try await open.finish()
        }
    }

    @Test func `writes and the read behind them take one round trip`() async throws {
        try await withTable { database in
            let before = database.statistics.roundTrips
            try await inTransaction(database) { open in
                for number in 1...5 { try open.send(.insert, [.int(number)]) { #expect($0.affected == 1) } }
                let rows = try await open.run(.all, [])
                #expect(rows.count == 5)
            }
            #expect(database.statistics.roundTrips == before + 2)
        }
    }

    @Test func `a failed check is thrown by the next call that waits`() async throws {
        try await withTable { database in
            await #expect(throws: StoreConflict.self) {
                try await inTransaction(database) { open in
                    try open.send(.insert, [.int(1)]) { _ in throw StoreConflict() }
                    _ = try await open.run(.all, [])
                    Issue.record("the check failed")
                }
            }
            let rows = try await database.execute(.all)
            #expect(rows.isEmpty)
        }
    }

    @Test func `a failed check is thrown before the commit`() async throws {
        try await withTable { database in
            await #expect(throws: StoreConflict.self) {
                try await inTransaction(database) { open in
                    try open.send(.insert, [.int(1)]) { _ in throw StoreConflict() }
                }
            }
            let rows = try await database.execute(.all)
            #expect(rows.isEmpty)
        }
    }

    @Test func `a failed check prevents the commit even if the caller ignores it`() async throws {
        try await withTable { database in
            await #expect(throws: StoreConflict.self) {
                try await inTransaction(database) { open in
                    try open.send(.insert, [.int(1)]) { _ in throw StoreConflict() }
                    _ = try? await open.run(.all, [])
                    _ = try await open.run(.insert, [.int(2)])
                }
            }
            let rows = try await database.execute(.all)
            #expect(rows.isEmpty)
        }
    }

    @Test func `the first error counts, not the errors that follow from it`() async throws {
        try await withTable { database in
            await #expect(throws: StoreConflict.self) {
                try await inTransaction(database) { open in
                    for _ in 1...3 { try open.send(.insert, [.int(1)]) { _ in } }
                    _ = try await open.run(.all, [])
                }
            }
            let rows = try await database.execute(.all)
            #expect(rows.isEmpty)
        }
    }

    @Test func `a check may send further statements`() async throws {
        try await withTable { database in
            try await inTransaction(database) { open in
                try open.send(.insert, [.int(1)]) { _ in
                    try open.send(.insert, [.int(2)]) { _ in _ = try await open.run(.insert, [.int(3)]) }
                }
            }
            let rows = try await database.execute(.all)
            #expect(rows.count == 3)
        }
    }
}

extension Statement {
    fileprivate static let makeTable = Self(.write, "CREATE TABLE numbers (n int8 UNIQUE)")
    fileprivate static let insert = Self(.write, "INSERT INTO numbers VALUES ($1)")
    fileprivate static let all = Self(.read, "SELECT n FROM numbers")
}
