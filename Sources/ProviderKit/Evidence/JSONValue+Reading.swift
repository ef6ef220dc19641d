extension JSONValue {
    /// Parses untrusted JSON.
    /// - Returns: `nil` if the text is not strictly JSON, is nested deeper than 16 levels, contains U+0000, or has a
    ///   number or a name of more than 128 bytes or a name with more than 32 combining marks in a row.
    public init?(json bytes: [UInt8]) { self.init(json: bytes, refusingRepeatedNames: false) }

    /// Parses untrusted JSON, and can also refuse objects with two members of the same name.
    package init?(json bytes: [UInt8], refusingRepeatedNames: Bool) {
        guard let value = try? JSONText.value(bytes, refusingRepeatedNames: refusingRepeatedNames) else { return nil }
        self = value
    }

    /// The member of an object; `.null` if the value is not an object or has no such member.
    public subscript(key: String) -> JSONValue {
        if case .object(let members) = self { members[key] ?? .null } else { .null }
    }

    /// The value at a dotted path such as `data.user.id` or `emails.0.value`; `.null` if there is none.
    public subscript(path path: String) -> JSONValue {
        path.split(separator: ".", omittingEmptySubsequences: false).reduce(self) { value, step in
            if case .array(let items) = value {
                Int(step).flatMap { items.indices.contains($0) ? items[$0] : nil } ?? .null
            } else {
                value[String(step)]
            }
        }
    }

    /// The text; `nil` for other types.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The whole number; `nil` for other types.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// The Boolean; `nil` for other types.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The items of a list; `nil` for other types.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    /// The members of an object; `nil` for other types.
    public var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
    /// Whether the value is `null`.
    public var isNull: Bool { self == .null }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object; if a name occurs twice, the later member is kept.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(Dictionary(elements) { $1 }) }
}
