internal import Foundation

extension JSONValue {
    /// Reads JSON that somebody outside wrote.
    ///
    /// - Returns: `nil` for what is not JSON to the letter, nests deeper than 16 levels, has a name of more than 128 bytes
    ///   or more than 32 combining marks in a row, or holds U+0000, which can't be stored.
    public init?(json bytes: [UInt8]) {
        self.init(json: bytes, refusingRepeatedNames: false)
    }

    /// The same; objects that name a member twice can be refused too.
    package init?(json bytes: [UInt8], refusingRepeatedNames: Bool) {
        guard (try? JSONText.check(bytes, refusingRepeatedNames: refusingRepeatedNames)) != nil,
            let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
        else { return nil }
        self = value
    }

    /// A member of an object; `.null` where there is no such member, or no object.
    public subscript(key: String) -> JSONValue {
        if case .object(let members) = self { members[key] ?? .null } else { .null }
    }

    /// The value at a dotted path, as in `data.user.id` or `emails.0.value`; `.null` where it leads nowhere.
    public subscript(path path: String) -> JSONValue {
        path.split(separator: ".", omittingEmptySubsequences: false).reduce(self) { value, step in
            if case .array(let items) = value {
                Int(step).flatMap { items.indices.contains($0) ? items[$0] : nil } ?? .null
            } else {
                value[String(step)]
            }
        }
    }

    /// The text, of a text alone.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The number, of a whole number alone.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// The truth value, of a truth value alone.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The items, of a list alone.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    /// The members, of an object alone.
    public var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
    /// Nothing is there.
    public var isNull: Bool { self == .null }
}
