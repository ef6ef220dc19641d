package import FoundationEssentials

/// An element of a decoded array; not every `PostgresDecodable`, because an array of bytes is decoded from a `bytea`.
package protocol PostgresElement {
    static func decodeArray(_ cell: Cell) throws(PostgresError) -> [Self]
}

extension Array: PostgresDecodable where Element: PostgresElement {
    package static func decode(_ cell: Cell) throws(PostgresError) -> Self { try Element.decodeArray(cell) }
}

extension UInt8: PostgresElement {
    package static func decodeArray(_ cell: Cell) throws(PostgresError) -> [Self] {
        Array(try cell.value("bytea", TypeOID.bytes))
    }
}

extension Array: PostgresElement where Element == UInt8 {
    package static func decodeArray(_ cell: Cell) throws(PostgresError) -> [Self] {
        try cell.elements("bytea[]", TypeOID.bytesArray)
    }
}

extension String: PostgresElement {
    package static func decodeArray(_ cell: Cell) throws(PostgresError) -> [Self] {
        try cell.elements("text[]", TypeOID.textArray)
    }
}

extension UUID: PostgresElement {
    package static func decodeArray(_ cell: Cell) throws(PostgresError) -> [Self] {
        try cell.elements("uuid[]", TypeOID.uuidArray)
    }
}

extension Int: PostgresElement {
    package static func decodeArray(_ cell: Cell) throws(PostgresError) -> [Self] {
        try cell.elements("int8[]", TypeOID.int8Array)
    }
}

extension Cell {
    /// The elements of an array of at most one dimension; a NULL element is an error.
    fileprivate func elements<Element: PostgresDecodable>(
        _ expected: String, _ type: UInt32
    ) throws(PostgresError) -> [Element] {
        let bytes = try value(expected, type)
        let dimensions = try integer(Int32.self, of: bytes)
        let elementType = try integer(UInt32.self, at: 8, of: bytes)
        guard dimensions != 0 else { return [] }
        guard dimensions == 1 else { throw fault("an array of one dimension expected") }
        var elements: [Element] = []
        var offset = 20
        let count = try integer(Int32.self, at: 12, of: bytes)
        guard count >= 0 else { throw fault("a negative number of elements") }
        for _ in 0..<count {
            let length = Int(try integer(Int32.self, at: offset, of: bytes))
            offset += 4
            guard length <= bytes.count - offset else { throw fault("too few bytes") }
            let element = length < 0 ? nil : UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
            elements.append(try Element.decode(Cell(answer: answer, column: column, type: elementType, bytes: element)))
            offset += max(length, 0)
        }
        return elements
    }
}
