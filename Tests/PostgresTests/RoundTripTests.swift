import Foundation
import Postgres
import Testing

@Suite struct RoundTripTests {
    private func roundTrip<Value: PostgresDecodable & Equatable>(
        _ statement: Statement, _ bind: (Value?) -> Bind, _ values: [Value]
    ) async throws {
        try await withDatabase { database in
            for value in values {
                let row = try #require(try await database.first(statement, bind(value)))
                #expect(try row.value(Value.self) == value)
            }
            let null = try #require(try await database.first(statement, bind(nil)))
            #expect(try null.value(Value?.self) == nil)
            #expect(throws: PostgresError.self) { try null.value(Value.self) }
        }
    }

    @Test func texts() async throws {
        let values = ["", "a", "naïve 🧑‍🚀 \u{10FFFF}", "'; --", String(repeating: "ß", count: 100_000)]
        try await roundTrip(.text, Bind.text, values)
    }

    @Test func integers() async throws {
        try await roundTrip(.int, Bind.int, [0, -1, 1, .max, .min])
        try await roundTrip(.int4, Bind.int4, [0, -1, .max, .min])
    }

    @Test func bytes() async throws {
        try await roundTrip(.bytes, { (value: [UInt8]?) in .bytes(value) }, [[], [0], Array(0...255)])
    }

    @Test func booleansAndDoubles() async throws {
        try await roundTrip(.bool, Bind.bool, [true, false])
        try await roundTrip(
            .double, Bind.double, [0, -0.1, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude])
    }

    @Test func uuids() async throws {
        try await roundTrip(.uuid, Bind.uuid, [UUID(), UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))])
    }

    @Test func dates() async throws {
        let values = [0, -978_307_200.5, 1_767_225_600.123456, .infinity, -.infinity].map(
            Date.init(timeIntervalSinceReferenceDate:))
        try await roundTrip(.timestamp, Bind.timestamp, values + [.distantPast, .distantFuture])
    }

    @Test func json() async throws {
        try await roundTrip(.json, Bind.json, ["{}", "[1, \"é\"]", "null"])
    }

    @Test(arguments: [Duration.zero, .milliseconds(1500), .seconds(-90), .seconds(86_400 * 400)])
    func interval(_ value: Duration) async throws {
        try await withDatabase { database in
            let row = try #require(try await database.first(.seconds, .interval(value)))
            #expect(try row.value(Double.self) == value / .seconds(1))
        }
    }

    @Test func arrays() async throws {
        try await withDatabase { database in
            let ids = [UUID(), UUID()]
            for (texts, uuids, ints, blobs) in [
                ([], [], [], []), (["", "ä", "{,}\""], ids, [.min, 0, .max], [[], [0, 255]]),
            ] as [([String], [UUID], [Int], [[UInt8]])] {
                let binds = [Bind.texts(texts), .uuids(uuids), .ints(ints), .bytesArray(blobs)]
                var row = try #require(try await database.first(.arrays, binds))
                #expect(try row.next([String].self) == texts)
                #expect(try row.next([UUID].self) == uuids)
                #expect(try row.next([Int].self) == ints)
                #expect(try row.next([[UInt8]].self) == blobs)
            }
        }
    }

    @Test func smallerTypesWiden() async throws {
        try await withDatabase { database in
            var row = try #require(try await database.first(.small))
            #expect(try row.next(Int.self) == -2)
            #expect(try row.next(Int.self) == -3)
            #expect(try row.next(Double.self) == 0.5)
            #expect(try row.next(String.self) == "name")
            #expect(try row.next(Int32.self) == 7)
            #expect(throws: PostgresError.self) { try row.next(Int.self) }
        }
    }

    @Test func aWrongTypeThrowsAndNamesTheColumn() async throws {
        try await withDatabase { database in
            let row = try #require(try await database.first(.int, .int(42)))
            #expect(throws: PostgresError.decoding("column value: uuid expected, type 20 found")) {
                try row.value(UUID.self)
            }
            #expect(throws: PostgresError.self) { try row.value([Int].self) }
            let nulls = try #require(try await database.first(.arrayWithNull))
            #expect(throws: PostgresError.self) { try nulls.value([String].self) }
            let matrix = try #require(try await database.first(.matrix))
            #expect(throws: PostgresError.self) { try matrix.value([Int].self) }
        }
    }

    enum Colour: String, PostgresDecodable { case red, green }

    @Test func enumerations() async throws {
        try await withDatabase { database in
            #expect(try await database.first(.text, .text("red"))?.value(Colour.self) == .red)
            let other = try #require(try await database.first(.text, .text("blue")))
            #expect(throws: PostgresError.decoding("column value: not a Colour")) { try other.value(Colour.self) }
        }
    }

    @Test(arguments: [
        Bind.text("a\0b"), .json("\"\0\""), .texts(["", "\0"]), .interval(.seconds(Int64.max)),
        .timestamp(Date(timeIntervalSinceReferenceDate: .nan)), .timestamp(Date(timeIntervalSinceReferenceDate: 1e300)),
    ])
    func whatPostgreSQLCannotHoldIsNotSent(_ bind: Bind) async throws {
        try await withDatabase { database in
            let error = await thrown { try await database.execute(.text, [bind]) }
            guard case .encoding = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
        }
    }

    @Test func oneStatementWithTwoTypesOfParameters() async throws {
        try await withDatabase { database in
            for _ in 0..<3 {
                let number: String = try await database.value(.any, .int(1))
                let text: String = try await database.value(.any, .text("x"))
                #expect([number, text] == ["1", "x"])
            }
        }
    }

    @Test func affectedRows() async throws {
        try await withDatabase { database in
            _ = try await database.execute(.makeTable)
            #expect(try await database.execute(.fillTable).affected == 3)
            #expect(try await database.execute(.one).count == 1)
        }
    }
}

extension Statement {
    fileprivate static let text = Self(.read, "SELECT $1::text AS value")
    fileprivate static let int = Self(.read, "SELECT $1::int8 AS value")
    fileprivate static let int4 = Self(.read, "SELECT $1::int4")
    fileprivate static let bytes = Self(.read, "SELECT $1::bytea")
    fileprivate static let bool = Self(.read, "SELECT $1::bool")
    fileprivate static let double = Self(.read, "SELECT $1::float8")
    fileprivate static let uuid = Self(.read, "SELECT $1::uuid")
    fileprivate static let timestamp = Self(.read, "SELECT $1::timestamptz")
    fileprivate static let json = Self(.read, "SELECT $1::jsonb")
    fileprivate static let seconds = Self(.read, "SELECT extract(epoch FROM $1::interval)::float8")
    fileprivate static let arrays = Self(.read, "SELECT $1::text[], $2::uuid[], $3::int8[], $4::bytea[]")
    fileprivate static let small = Self(.read, "SELECT (-2)::int2, (-3)::int4, 0.5::float4, 'name'::name, 7::int2")
    fileprivate static let arrayWithNull = Self(.read, "SELECT ARRAY['a', NULL]")
    fileprivate static let matrix = Self(.read, "SELECT ARRAY[[1::int8], [2]]")
    fileprivate static let any = Self(.read, "SELECT format('%s', $1)")
    fileprivate static let makeTable = Self(.write, "CREATE TABLE numbers (n int)")
    fileprivate static let fillTable = Self(.write, "INSERT INTO numbers VALUES (1), (2), (3)")
}
