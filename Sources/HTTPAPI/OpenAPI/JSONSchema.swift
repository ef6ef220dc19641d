internal import Foundation
internal import ProviderKit

/// A schema of JSON Schema 2020-12, as far as payload types need it; without a kind it allows any value.
struct JSONSchema: Sendable, Equatable {
    enum Kind: String, Sendable, Comparable {
        case array, boolean, integer, null, number, object, string

        static func < (left: Kind, right: Kind) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    var kinds: Set<Kind>
    var format: String?
    /// A regular expression that a text matches (ECMA-262).
    var pattern: String?
    /// In characters: code points, as JSON Schema counts them.
    var length: ClosedRange<Int>?
    var description: String?
    var properties: [String: JSONSchema] = [:]
    var required: Set<String> = []
    @Indirect var items: JSONSchema?
    /// The schema of members that have no fixed name.
    @Indirect var additionalProperties: JSONSchema?
    /// The schema of every member's name.
    @Indirect var propertyNames: JSONSchema?
    /// The only values there are; empty means all of the kind.
    var values: [JSONValue] = []
    var anyOf: [JSONSchema] = []
    var examples: [JSONValue] = []

    /// Makes the document write the schema once, among its components, and refer to it everywhere else.
    var name: SchemaName?
    /// Stands for the schema of that name; nothing else is written then.
    var reference: SchemaName?
    /// Why the probe of a type ended early; not written, as what it saw until then is.
    var gap: String?

    init(
        _ kinds: Kind..., format: String? = nil, pattern: String? = nil, length: ClosedRange<Int>? = nil,
        description: String? = nil
    ) {
        self.kinds = Set(kinds)
        self.format = format
        self.pattern = pattern
        self.length = length
        self.description = description
        _items = Indirect(wrappedValue: nil)
        _additionalProperties = Indirect(wrappedValue: nil)
        _propertyNames = Indirect(wrappedValue: nil)
    }

    static let any = JSONSchema()
    static let string = JSONSchema(.string)

    static func array(of items: JSONSchema) -> JSONSchema {
        var schema = JSONSchema(.array)
        schema.items = items
        return schema
    }

    /// An object whose members are named by the data.
    static func dictionary(of values: JSONSchema) -> JSONSchema {
        var schema = JSONSchema(.object)
        schema.additionalProperties = values
        return schema
    }

    static func object(_ properties: [String: JSONSchema], required: Set<String>) -> JSONSchema {
        var schema = JSONSchema(.object)
        schema.properties = properties
        schema.required = required
        return schema
    }

    static func enumeration(_ values: [String]) -> JSONSchema {
        var schema = JSONSchema.string
        schema.values = values.map { .string($0) }
        return schema
    }

    static func reference(to name: SchemaName) -> JSONSchema {
        var schema = JSONSchema()
        schema.reference = name
        return schema
    }

    /// The same, or `null`.
    var nullable: JSONSchema {
        if name != nil || reference != nil {
            var schema = JSONSchema()
            schema.anyOf = [self, JSONSchema(.null)]
            return schema
        }
        var schema = self
        if !anyOf.isEmpty {
            schema.anyOf.append(JSONSchema(.null))
        } else if !kinds.isEmpty {
            schema.kinds.insert(.null)
        }
        return schema
    }

    func named(_ name: String) -> JSONSchema {
        var schema = self
        schema.name = SchemaName(name)
        return schema
    }
}

// MARK: - Writing

extension JSONSchema: Encodable {
    func encode(to encoder: any Encoder) throws {
        try inlined.encode(to: encoder)
    }

    /// With every named schema written where it is used.
    private var inlined: JSONValue {
        json { $0.inlined }
    }

    /// The schema itself, with those inside it as `write` has them.
    func json(nesting write: (JSONSchema) -> JSONValue) -> JSONValue {
        if let reference { return .object(["$ref": .string("#/components/schemas/\(reference.short)")]) }
        var json: [String: JSONValue] = [:]
        json["type"] = kindsJSON
        json["format"] = format.map { .string($0) }
        json["pattern"] = pattern.map { .string($0) }
        json["minLength"] = length.flatMap { $0.lowerBound == 0 ? nil : .integer(Int64($0.lowerBound)) }
        json["maxLength"] = length.flatMap { $0.upperBound == .max ? nil : .integer(Int64($0.upperBound)) }
        json["description"] = description.map { .string($0) }
        json["properties"] = properties.isEmpty ? nil : .object(properties.mapValues(write))
        json["required"] = required.isEmpty ? nil : .array(required.sorted().map { .string($0) })
        json["items"] = items.map(write)
        json["additionalProperties"] = additionalProperties.map(write)
        json["propertyNames"] = propertyNames.map(write)
        json["anyOf"] = anyOf.isEmpty ? nil : .array(anyOf.map(write))
        json["examples"] = examples.isEmpty ? nil : .array(examples)
        if !values.isEmpty {
            json["enum"] = .array(kinds.contains(.null) ? values + [.null] : values)
        }
        return .object(json)
    }

    /// A word, or a list where there is a choice.
    private var kindsJSON: JSONValue? {
        let words = kinds.sorted().map { JSONValue.string($0.rawValue) }
        return words.count > 1 ? .array(words) : words.first
    }
}

/// Storage that lets a structure hold another of its own type.
@propertyWrapper
indirect enum Indirect<Value: Sendable & Equatable>: Sendable, Equatable {
    case value(Value)

    init(wrappedValue: Value) {
        self = .value(wrappedValue)
    }

    var wrappedValue: Value {
        get {
            switch self {
            case .value(let value): value
            }
        }
        set { self = .value(newValue) }
    }
}
