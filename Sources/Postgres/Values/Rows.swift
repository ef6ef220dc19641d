import CLibPQ

/// The answer to one statement, whose rows are decoded on the caller's thread.
package struct Rows: Sendable, RandomAccessCollection {
    private let answer: Answer?
    package let endIndex: Int

    init(_ answer: Answer?) {
        self.answer = answer
        endIndex = answer.map { Int(PQntuples($0.raw)) } ?? 0
    }

    package var startIndex: Int { 0 }

    package subscript(position: Int) -> Row {
        guard let answer, indices.contains(position) else { preconditionFailure("row index out of range") }
        return Row(answer: answer, index: Int32(truncatingIfNeeded: position))
    }

    /// The number of rows changed by INSERT, UPDATE, DELETE or MERGE, or returned by SELECT; 0 for other statements.
    package var affected: Int { answer.flatMap { Int(String(cString: PQcmdTuples($0.raw))) } ?? 0 }

    /// The rows, each decoded by `body`.
    package func decoded<Value>(_ body: (inout Row) throws -> Value) rethrows -> [Value] {
        try map { row in
            var row = row
            return try body(&row)
        }
    }

    /// The command tag from the server, such as "ROLLBACK".
    var tag: String { answer.map { String(cString: PQcmdStatus($0.raw)) } ?? "" }
}

/// A row, read from left to right: `var row = row; let uid: UUID = try row.next()`.
package struct Row: Sendable {
    private let answer: Answer
    private let index: Int32
    private var column: Int32 = 0

    init(answer: Answer, index: Int32) { (self.answer, self.index) = (answer, index) }

    /// The next column; throws if its type is not one that `Value` decodes.
    package mutating func next<Value: PostgresDecodable>(_ type: Value.Type = Value.self) throws(PostgresError) -> Value
    {
        guard column < PQnfields(answer.raw) else {
            throw .decoding("the row has \(column) columns, one more was asked for")
        }
        defer { column += 1 }
        // The bytes are valid as long as the answer, which the cell retains.
        let bytes = PQgetisnull(answer.raw, index, column) == 1 ? nil : answer.bytes(row: index, column: column)
        return try Value.decode(Cell(answer: answer, column: column, type: PQftype(answer.raw, column), bytes: bytes))
    }
}

/// A libpq result, freed with the last reference to it.
///
/// The compiler cannot check that it is sendable: once the reactor has passed it on, it is only read.
final class Answer: @unchecked Sendable {
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) { self.raw = raw }
    deinit { PQclear(raw) }

    func bytes(row: Int32, column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: PQgetvalue(raw, row, column), count: Int(PQgetlength(raw, row, column)))
    }
}
