extension GatehouseClient {
    /// Any JSON value: an app's metadata, or a claim that the server passes on.
    public enum JSON: Sendable, Hashable {
        /// `null`.
        case null
        /// `true` or `false`.
        case bool(Bool)
        /// A number.
        case number(Double)
        /// A string.
        case string(String)
        /// An array.
        case array([JSON])
        /// An object: its members by name.
        case object([String: JSON])

        /// The string; `nil` for another kind of value.
        public var string: String? { if case .string(let text) = self { text } else { nil } }
        /// The number; `nil` for another kind of value.
        public var number: Double? { if case .number(let number) = self { number } else { nil } }
        /// The Boolean; `nil` for another kind of value.
        public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
        /// The array; `nil` for another kind of value.
        public var array: [JSON]? { if case .array(let values) = self { values } else { nil } }
        /// The members of the object; `nil` for another kind of value.
        public var object: [String: JSON]? { if case .object(let members) = self { members } else { nil } }
    }
}

extension GatehouseClient.JSON: Codable {
    /// Decodes any JSON value.
    /// - Throws: An error of the decoder.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([Self].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: Self].self))
        }
    }

    /// Encodes the value; a whole number has no fraction.
    /// - Throws: An error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value):
            if let whole = Int64(exactly: value) { try container.encode(whole) } else { try container.encode(value) }
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}

extension GatehouseClient.JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a number.
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates an array.
    public init(arrayLiteral elements: Self...) { self = .array(elements) }
    /// Creates an object; if a name occurs twice, the last value counts.
    public init(dictionaryLiteral elements: (String, Self)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
