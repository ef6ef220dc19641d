/// A schema (JSON Schema 2020-12) for the OpenAPI document; one without a kind allows any value.
public struct JSONSchema: Sendable, Equatable {
    package enum Kind: String, Sendable { case array, boolean, integer, null, number, object, string }

    package var kinds: Set<Kind>
    package var format: String?
    /// The regular expression (ECMA-262) that a text must match.
    package var pattern: String?
    /// The allowed length of a text in Unicode code points, as JSON Schema counts it.
    package var length: ClosedRange<Int>?
    package var description: String?
    package var properties: [String: JSONSchema] = [:]
    package var required: Set<String> = []
    @Indirect package var items: JSONSchema? = nil
    /// The schema of members that are not in `properties`.
    @Indirect package var additionalProperties: JSONSchema? = nil
    /// The schema of every member's name.
    @Indirect package var propertyNames: JSONSchema? = nil
    /// The only values that are allowed; empty allows all values of the kind.
    package var values: [JSONValue] = []
    package var anyOf: [JSONSchema] = []
    package var examples: [JSONValue] = []
    /// The name of the document's component for this schema; other places of the document refer to the component.
    package var name: String?
    /// The name of the component that this schema refers to; a reference has no other keywords.
    package var reference: String?

    package init(
        _ kinds: Kind..., format: String? = nil, pattern: String? = nil, length: ClosedRange<Int>? = nil,
        description: String? = nil
    ) {
        self.kinds = Set(kinds)
        (self.format, self.pattern, self.length, self.description) = (format, pattern, length, description)
    }

    /// Any text.
    public static let string = JSONSchema(.string)
    package static let any = JSONSchema()
    package static let uuid = JSONSchema(.string, format: "uuid")

    /// One of these texts.
    public static func enumeration(_ values: [String]) -> JSONSchema {
        JSONSchema.string.with { $0.values = values.map { .string($0) } }
    }

    /// The text of one of the cases.
    package static func choice<Choice: RawRepresentable<String> & CaseIterable>(of type: Choice.Type) -> JSONSchema {
        .enumeration(type.allCases.map(\.rawValue))
    }

    package static func array(of items: JSONSchema) -> JSONSchema { JSONSchema(.array).with { $0.items = items } }

    /// An object whose member names depend on the data.
    package static func dictionary(of values: JSONSchema) -> JSONSchema {
        JSONSchema(.object).with { $0.additionalProperties = values }
    }

    package static func object(
        _ properties: [String: JSONSchema], required: Set<String> = [], named name: String? = nil
    ) -> JSONSchema {
        JSONSchema(.object).with { ($0.properties, $0.required, $0.name) = (properties, required, name) }
    }

    package static func reference(to name: String) -> JSONSchema { JSONSchema().with { $0.reference = name } }

    private func with(_ change: (inout JSONSchema) -> Void) -> JSONSchema {
        var schema = self
        change(&schema)
        return schema
    }

    /// The same schema, which also allows `null`.
    package var nullable: JSONSchema {
        var schema = self
        if name != nil || reference != nil {
            schema = JSONSchema()
            schema.anyOf = [self, JSONSchema(.null)]
        } else if !anyOf.isEmpty {
            schema.anyOf.append(JSONSchema(.null))
        } else if !kinds.isEmpty {
            schema.kinds.insert(.null)
        }
        return schema
    }

    /// The schema as JSON; `write` converts the schemas nested in it.
    package func json(nesting write: (JSONSchema) -> JSONValue) -> JSONValue {
        if let reference { return ["$ref": .string("#/components/schemas/\(reference)")] }
        var json: [String: JSONValue] = [:]
        let words = kinds.map(\.rawValue).sorted().map { JSONValue.string($0) }
        json["type"] = words.count > 1 ? .array(words) : words.first
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
        json["enum"] = values.isEmpty ? nil : .array(kinds.contains(.null) ? values + [.null] : values)
        return .object(json)
    }
}

/// Storage that lets a structure hold another value of its own type.
@propertyWrapper
package indirect enum Indirect<Value: Sendable & Equatable>: Sendable, Equatable {
    case value(Value)

    package init(wrappedValue: Value) { self = .value(wrappedValue) }

    package var wrappedValue: Value {
        get {
            switch self {
            case .value(let value): value
            }
        }
        set { self = .value(newValue) }
    }
}
