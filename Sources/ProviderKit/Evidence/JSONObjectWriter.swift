/// Writes one JSON object (RFC 8259) member by member, which is several times faster than `JSONEncoder`.
package struct JSONObjectWriter {
    private var bytes: [UInt8] = []
    /// Whether `null` replaces a number that is not finite, which JSON can't express (RFC 8259, 6).
    private var hasReplacedNumber = false

    package init() {
        bytes.reserveCapacity(1024)
        bytes.append(UInt8(ascii: "{"))
    }

    private init(empty: Void) {}

    /// The text of one value of any kind; `nil` if it has a number that is not finite.
    package static func text(of value: some JSONWritable) -> [UInt8]? {
        var json = Self(empty: ())
        value.write(to: &json)
        return json.hasReplacedNumber ? nil : json.bytes
    }

    /// The finished object.
    package consuming func finished() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    package mutating func add(_ name: some CodingKey, _ value: some JSONWritable) { add(name.stringValue, value) }

    package mutating func add(_ name: String, _ value: some JSONWritable) {
        separate()
        write(name)
        bytes.append(UInt8(ascii: ":"))
        value.write(to: &self)
    }

    /// Adds a member; `name` must already be quoted and end with a colon.
    package mutating func add(written name: [UInt8], _ value: some JSONWritable) {
        separate()
        bytes.append(contentsOf: name)
        value.write(to: &self)
    }

    // MARK: - Values

    /// Writes an object as the value of a member or an array.
    package mutating func writeObject(_ members: (inout JSONObjectWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        members(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    package mutating func writeArray(_ elements: some Sequence<some JSONWritable>) {
        bytes.append(UInt8(ascii: "["))
        for element in elements {
            separate()
            element.write(to: &self)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes a number, `true`, `false` or `null`.
    package mutating func write(literal: String) { bytes.append(contentsOf: literal.utf8) }

    /// Writes a number, or `null` if it is not finite.
    package mutating func write(_ number: Double) {
        hasReplacedNumber = hasReplacedNumber || !number.isFinite
        write(literal: number.isFinite ? "\(number)" : "null")
    }

    /// Writes a quoted text with the necessary escapes (RFC 8259, 7).
    package mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            if utf8.contains(where: Self.mustBeEscaped) {
                for byte in utf8 { writeEscaped(byte) }
            } else {
                bytes.append(contentsOf: utf8)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a comma unless an object or an array has just begun.
    private mutating func separate() {
        guard let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") else { return }
        bytes.append(UInt8(ascii: ","))
    }

    private static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func writeEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x08: write(literal: "\\b")
        case 0x09: write(literal: "\\t")
        case 0x0A: write(literal: "\\n")
        case 0x0C: write(literal: "\\f")
        case 0x0D: write(literal: "\\r")
        case ..<0x20: write(literal: (byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16))
        default: bytes.append(byte)
        }
    }
}

// MARK: - What can be written

/// A value that `JSONObjectWriter` writes.
package protocol JSONWritable {
    func write(to json: inout JSONObjectWriter)
}

extension String: JSONWritable {
    package func write(to json: inout JSONObjectWriter) { json.write(self) }
}

extension Int: JSONWritable {
    package func write(to json: inout JSONObjectWriter) { json.write(literal: String(self)) }
}

extension Bool: JSONWritable {
    package func write(to json: inout JSONObjectWriter) { json.write(literal: self ? "true" : "false") }
}

extension Array: JSONWritable where Element: JSONWritable {
    package func write(to json: inout JSONObjectWriter) { json.writeArray(self) }
}

extension Optional: JSONWritable where Wrapped: JSONWritable {
    package func write(to json: inout JSONObjectWriter) {
        if let self { self.write(to: &json) } else { json.write(literal: "null") }
    }
}

extension JSONValue: JSONWritable {
    package func write(to json: inout JSONObjectWriter) {
        switch self {
        case .null: json.write(literal: "null")
        case .bool(let value): value.write(to: &json)
        case .integer(let value): json.write(literal: String(value))
        case .number(let value): json.write(value)
        case .string(let value): value.write(to: &json)
        case .array(let values): values.write(to: &json)
        case .object(let members): json.writeObject { json in for (name, value) in members { json.add(name, value) } }
        }
    }
}
