import FoundationEssentials
import GatehouseTesting
import Postgres
import Testing

@Suite struct CopyTests {
    private func withTable(
        configure: (inout Database.Configuration) -> Void = { $0.transactions = 1 },
        _ body: (Database) async throws -> Void
    ) async throws {
        try await withDatabase(configure: configure) { database in
            _ = try await database.execute(.makeTable)
            try await body(database)
        }
    }

    private func rows(_ numbers: some Sequence<Int>, text: String = "") -> CopyRows {
        var rows = CopyRows()
        for number in numbers { rows.append(.int(number), .text(text)) }
        return rows
    }

    @Test func everyTypeArrivesAsItWasBound() async throws {
        try await withDatabase { database in
            _ = try await database.execute(.makeColumns)
            let (id, now) = (UUID(), Date(timeIntervalSinceReferenceDate: 800_000_000.25))
            var rows = CopyRows()
            rows.append(
                .int4(-7), .uuid(id), .text("naïve\t\\N\n"), .text(""), .text(nil), .bytes([0, 255]), .bool(true),
                .json(#"{"a": [1]}"#), .timestamp(now), .texts(["one", "two"]))
            let batch = rows
            let stored = try await database.transaction { try await $0.copy(batch, by: .copyColumns) }
            #expect(stored == 1)
            var row = try #require(try await database.first(.columns))
            let number: Int32 = try row.next()
            let uuid: UUID = try row.next()
            let texts: [String?] = [try row.next(), try row.next(), try row.next()]
            let bytes: [UInt8] = try row.next()
            let flag: Bool = try row.next()
            let json: String = try row.next()
            let moment: Date = try row.next()
            let list: [String] = try row.next()
            #expect((number, uuid, bytes, flag, json) == (-7, id, [0, 255], true, #"{"a": [1]}"#))
            #expect(texts == ["naïve\t\\N\n", "", nil])
            #expect((moment, list) == (now, ["one", "two"]))
        }
    }

    @Test func manyMegabytesGoInPieceByPiece() async throws {
        try await withTable { database in
            let batch = rows(1...20_000, text: String(repeating: "x", count: 1000))
            let stored = try await database.transaction { transaction in
                let stored = try await transaction.copy(batch, by: .copyNumbers)
                // the connection is in its pipeline again
                let sum: Int = try await transaction.value(.sum)
                #expect(sum == 200_010_000)
                return stored
            }
            #expect(stored == 20_000)
            #expect(database.statistics.reconnects == 0)
        }
    }

    @Test func noRowsAreStoredToo() async throws {
        try await withTable { database in
            let batch = rows([])
            let stored = try await database.transaction { try await $0.copy(batch, by: .copyNumbers) }
            #expect(stored == 0)
        }
    }

    @Test func oneRowTooManyUndoesAllOfThem() async throws {
        try await withTable { database in
            let batch = rows([1, 2, 3, 2])
            let error = await thrown {
                try await database.transaction { transaction in
                    _ = try await transaction.execute(.insert, .int(9))
                    _ = try await transaction.copy(batch, by: .copyNumbers)
                }
            }
            #expect(error?.isUniqueViolation(constraint: "numbers_pkey") == true)
            let sum: Int = try await database.transaction { try await $0.value(.sum) }
            #expect(sum == 0)
            #expect(database.statistics.reconnects == 0)
        }
    }

    @Test func aStatementThatTakesNoRowsIsRefused() async throws {
        try await withTable { database in
            let batch = rows([1])
            let unknown = await thrown { try await database.transaction { try await $0.copy(batch, by: .copyNowhere) } }
            #expect(unknown.map { "\($0)".contains("42P01") } == true)
            let other: Int = try await database.transaction { try await $0.value(.sum) }
            #expect(other == 0)
        }
    }

    @Test func whatCannotBeExpressedIsNotSent() async throws {
        try await withTable { database in
            let batch = rows([1], text: "a\0b")
            let error = await thrown { try await database.transaction { try await $0.copy(batch, by: .copyNumbers) } }
            guard case .encoding = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
        }
    }

    @Test func cancellationStoresNothingAndFreesTheConnection() async throws {
        try await withTable { database in
            try await database.transaction { try await $0.script(slowInsert) }
            let batch = rows(1...200, text: String(repeating: "x", count: 10_000))
            let task = Task { try await database.transaction { try await $0.copy(batch, by: .copyNumbers) } }
            try await eventually { (try await database.value(.copiers) as Int) == 1 }
            task.cancel()
            #expect(await thrown { try await task.value } == .cancelled)
            // its 200 rows would have taken 20 seconds, and the connection is the only one
            let start = ContinuousClock.now
            let sum: Int = try await database.transaction { try await $0.value(.sum) }
            #expect(sum == 0)
            #expect(ContinuousClock.now - start < .seconds(5))
            #expect(database.statistics.reconnects == 0)
        }
    }

    @Test func theTimeLimitOfAStatementHolds() async throws {
        let configure = { (configuration: inout Database.Configuration) in
            configuration.transactions = 1
            configuration.transactionStatementTimeout = .milliseconds(300)
        }
        try await withTable(configure: configure) { database in
            try await database.transaction { try await $0.script(slowInsert) }
            let batch = rows(1...200)
            let error = await thrown { try await database.transaction { try await $0.copy(batch, by: .copyNumbers) } }
            #expect(error.map { "\($0)".contains("57014") } == true, "\(String(describing: error))")
            let sum: Int = try await database.transaction { try await $0.value(.sum) }
            #expect(sum == 0)
        }
    }

    @Test func singleStatementsGoOnBesideIt() async throws {
        try await withTable { database in
            try await database.transaction { try await $0.script(slowInsert) }
            let batch = rows(1...20, text: String(repeating: "x", count: 100_000))
            let task = Task { try await database.transaction { try await $0.copy(batch, by: .copyNumbers) } }
            try await eventually { (try await database.value(.copiers) as Int) == 1 }
            for _ in 0..<20 {
                let one: Int32 = try await database.value(.one)
                #expect(one == 1)
            }
            let copiers: Int = try await database.value(.copiers)
            #expect(copiers == 1)
            let stored = try await task.value
            #expect(stored == 20)
        }
    }

    @Test func aLostConnectionEndsIt() async throws {
        try await withTable { database in
            try await database.transaction { try await $0.script(slowInsert) }
            let batch = rows(1...200, text: String(repeating: "x", count: 10_000))
            let task = Task { try await database.transaction { try await $0.copy(batch, by: .copyNumbers) } }
            try await eventually { (try await database.value(.copiers) as Int) == 1 }
            _ = try await database.execute(.terminateCopiers)
            #expect(await thrown { try await task.value } == .connectionLost(maybeExecuted: false))
        }
    }

    /// A tenth of a second for each row.
    private let slowInsert = """
        CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END';
        CREATE TRIGGER dawdle BEFORE INSERT ON numbers FOR EACH ROW EXECUTE FUNCTION dawdle();
        """
}

extension Statement {
    fileprivate static let makeTable = Self(.write, "CREATE TABLE numbers (n int8 PRIMARY KEY, t text)")
    fileprivate static let insert = Self(.write, "INSERT INTO numbers VALUES ($1)")
    fileprivate static let sum = Self(.read, "SELECT coalesce(sum(n), 0)::int8 FROM numbers")
    fileprivate static let copyNumbers = Self(.write, "COPY numbers (n, t) FROM STDIN (FORMAT binary)")
    fileprivate static let copyNowhere = Self(.write, "COPY nowhere FROM STDIN (FORMAT binary)")
    fileprivate static let makeColumns = Self(
        .write,
        """
        CREATE TABLE columns (a int4, b uuid, c text, d text, e text, f bytea, g boolean, h jsonb, i timestamptz, j text[])
        """)
    fileprivate static let copyColumns = Self(.write, "COPY columns FROM STDIN (FORMAT binary)")
    fileprivate static let columns = Self(.read, "SELECT a, b, c, d, e, f, g, h::text, i, j FROM columns")
    fileprivate static let copiers = Self(
        .read,
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'COPY numbers%' AND state = 'active'
        """)
    fileprivate static let terminateCopiers = Self(
        .write,
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'COPY numbers%' AND state = 'active'
        """)
}
