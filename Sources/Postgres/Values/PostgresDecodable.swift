package import FoundationEssentials

import CLibPQ

/// A type that can be decoded from a column; if the column has another type, decoding throws and never traps.
package protocol PostgresDecodable {
    static func decode(_ cell: Cell) throws(PostgresError) -> Self
}

/// One column of one row, in PostgreSQL's binary format; nil bytes are NULL.
package struct Cell {
    let answer: Answer
    let column: Int32
    let type: UInt32
    let bytes: UnsafeRawBufferPointer?

    /// The bytes, if the column has one of these types and is not NULL.
    func value(_ expected: String, _ types: UInt32...) throws(PostgresError) -> UnsafeRawBufferPointer {
        guard types.contains(type) else { throw fault("\(expected) expected, type \(type) found") }
        guard let bytes else { throw fault("\(expected) expected, NULL found") }
        return bytes
    }

    func integer<Value: FixedWidthInteger>(
        _ type: Value.Type, at offset: Int = 0, of bytes: UnsafeRawBufferPointer
    ) throws(PostgresError) -> Value {
        guard bytes.count - offset >= MemoryLayout<Value>.size else { throw fault("too few bytes") }
        return Value(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
    }

    /// An error that names the column but does not contain the value.
    package func fault(_ reason: String) -> PostgresError {
        let name = PQfname(answer.raw, column).map { String(cString: $0) } ?? "?"
        return .decoding("column \(name): \(reason)")
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    package static func decode(_ cell: Cell) throws(PostgresError) -> Self {
        cell.bytes == nil ? nil : try Wrapped.decode(cell)
    }
}

/// Decodes an enumeration from its raw value.
extension PostgresDecodable where Self: RawRepresentable, RawValue: PostgresDecodable {
    package static func decode(_ cell: Cell) throws(PostgresError) -> Self {
        guard let value = Self(rawValue: try RawValue.decode(cell)) else { throw cell.fault("not a \(Self.self)") }
        return value
    }
}

extension UUID: PostgresDecodable {
    package static func decode(_ cell: Cell) throws(PostgresError) -> Self {
        let bytes = try cell.value("uuid", TypeOID.uuid)
        guard bytes.count == 16 else { throw cell.fault("too few bytes") }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}

extension String: PostgresDecodable {
    package static func decode(_ cell: Cell) throws(PostgresError) -> Self {
        let bytes = try cell.value(
            "text", TypeOID.text, TypeOID.limitedText, TypeOID.paddedText, TypeOID.name, TypeOID.json, TypeOID.jsonb)
        let jsonbVersion = cell.type == TypeOID.jsonb ? 1 : 0
        return String(decoding: bytes.dropFirst(jsonbVersion), as: UTF8.self)
    }
}

extension Int: PostgresDecodable {
    /// Takes `int2`, `int4` and `int8`.
    package static func decode(_ cell: Cell) throws(PostgresError) -> Self {
        let bytes = try cell.value("integer", TypeOID.int8, TypeOID.int4, TypeOID.int2)
        return switch cell.type {
        case TypeOID.int8: Int(try cell.integer(Int64.self, of: bytes))
        case TypeOID.int4: Int(try cell.integer(Int32.self, of: bytes))
        default: Int(try cell.integer(Int16.self, of: bytes))
        }
    }
}

extension Int32: PostgresDecodable {
    /// Takes `int2` and `int4`.
    package static func decode(_ cell: Cell) throws(PostgresError) -> Self {
        let bytes = try cell.value("int4", TypeOID.int4, TypeOID.int2)
        guard cell.type == TypeOID.int4 else { return Int32(try cell.integer(Int16.self, of: bytes)) }
        return try cell.integer(Int32.self, of: bytes)
    }
}

extension Bool: PostgresDecodable {
    package static func decode(_ cell: Cell) throws(PostgresError) -> Self {
        try cell.integer(UInt8.self, of: try cell.value("bool", TypeOID.bool)) != 0
    }
}

extension Double: PostgresDecodable {
    /// Takes `float4` and `float8`.
    package static func decode(_ cell: Cell) throws(PostgresError) -> Self {
        let bytes = try cell.value("float8", TypeOID.float8, TypeOID.float4)
        guard cell.type == TypeOID.float8 else {
            return Double(Float(bitPattern: try cell.integer(UInt32.self, of: bytes)))
        }
        return Double(bitPattern: try cell.integer(UInt64.self, of: bytes))
    }
}

extension Date: PostgresDecodable {
    package static func decode(_ cell: Cell) throws(PostgresError) -> Self {
        let bytes = try cell.value("timestamptz", TypeOID.timestamp)
        return Timestamp.date(microseconds: try cell.integer(Int64.self, of: bytes))
    }
}
