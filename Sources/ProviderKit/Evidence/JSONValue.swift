package import Foundation

/// Any JSON value (RFC 8259), for values that the server stores without interpreting them.
public enum JSONValue: Sendable, Hashable, Codable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction that fits 64 bits.
    case integer(Int64)
    /// Any other number; always finite.
    case number(Double)
    /// Text; never holds U+0000, which PostgreSQL can't store.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// Named members.
    case object([String: JSONValue])

    /// Decodes a value of any type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The most frequent types come first: each failed attempt creates an error with its whole path.
        if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self), value.isFinite {
            self = .number(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if (try? decoder.unkeyedContainer()) != nil {
            // Errors inside a list or an object are thrown, since they name the path.
            self = .array(try container.decode([JSONValue].self))
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Encodes the value as the JSON type of its case.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// Compares texts as bytes (RFC 8259, 8.3).
    public static func == (one: JSONValue, other: JSONValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): one == other
        default: false
        }
    }
}

extension JSONValue {
    /// The value as JSON with sorted members and without escaped slashes.
    package var text: String {
        (try? JSONEncoder.stable.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }

    /// The same as `text` on several lines.
    package var indentedText: String {
        get throws {
            let encoder = JSONEncoder.stable
            encoder.outputFormatting.insert(.prettyPrinted)
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}

extension JSONEncoder {
    /// An encoder that encodes equal values as equal bytes, with sorted keys and without escaped slashes.
    package static var stable: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
