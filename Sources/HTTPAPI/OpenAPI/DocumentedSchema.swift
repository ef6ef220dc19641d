internal import Foundation
internal import ProviderKit

/// A type that states its own schema, where running its `init(from:)` would not tell enough.
///
/// The first of `examples`, or else what the schema suggests, must decode as the type: the probe of a type around it
/// needs a value to go on with.
protocol DocumentedSchema: Decodable {
    static var schema: JSONSchema { get }
}

/// A type around others, whose schema is made of theirs.
protocol DocumentedContainer: Decodable {
    static func schema(probing probe: (any Decodable.Type) -> JSONSchema) -> JSONSchema
}

/// A field that is never left out, although it is read as if it could be.
protocol AlwaysPresent {}

extension Timestamp: DocumentedSchema {
    static let schema: JSONSchema = {
        var schema = JSONSchema(.string, format: "date-time")
        schema.examples = [.string("2024-01-30T08:00:00.000Z")]
        return schema
    }()
}

extension JSONValue: DocumentedSchema {
    static var schema: JSONSchema { .any }
}

extension String: DocumentedSchema {
    static var schema: JSONSchema { .string }
}

extension Bool: DocumentedSchema {
    static var schema: JSONSchema { JSONSchema(.boolean) }
}

extension Int: DocumentedSchema {
    static var schema: JSONSchema { JSONSchema(.integer, format: "int64") }
}

extension Int64: DocumentedSchema {
    static var schema: JSONSchema { JSONSchema(.integer, format: "int64") }
}

extension Int32: DocumentedSchema {
    static var schema: JSONSchema { JSONSchema(.integer, format: "int32") }
}

extension UInt64: DocumentedSchema {
    static var schema: JSONSchema { JSONSchema(.integer) }
}

extension Double: DocumentedSchema {
    static var schema: JSONSchema { JSONSchema(.number, format: "double") }
}

extension UUID: DocumentedSchema {
    static var schema: JSONSchema { JSONSchema(.string, format: "uuid") }
}

extension URL: DocumentedSchema {
    static var schema: JSONSchema { JSONSchema(.string, format: "uri") }
}

extension Optional: DocumentedContainer where Wrapped: Decodable {
    static func schema(probing probe: (any Decodable.Type) -> JSONSchema) -> JSONSchema {
        probe(Wrapped.self).nullable
    }
}

extension Nullable: DocumentedContainer, AlwaysPresent where Value: Decodable {
    static func schema(probing probe: (any Decodable.Type) -> JSONSchema) -> JSONSchema {
        probe(Value.self).nullable
    }
}

extension Array: DocumentedContainer where Element: Decodable {
    static func schema(probing probe: (any Decodable.Type) -> JSONSchema) -> JSONSchema {
        .array(of: probe(Element.self))
    }
}

extension Set: DocumentedContainer where Element: Decodable {
    static func schema(probing probe: (any Decodable.Type) -> JSONSchema) -> JSONSchema {
        .array(of: probe(Element.self))
    }
}

extension Dictionary: DocumentedContainer where Key == String, Value: Decodable {
    static func schema(probing probe: (any Decodable.Type) -> JSONSchema) -> JSONSchema {
        .dictionary(of: probe(Value.self))
    }
}

// MARK: - Samples

extension JSONSchema {
    /// A value that the schema allows; the smallest one.
    var sample: JSONValue {
        if let example = examples.first ?? values.first { return example }
        if kinds.contains(.null) || kinds.isEmpty { return .null }
        if kinds.contains(.string) { return .string(Self.sampleTexts[format ?? ""] ?? "") }
        if kinds.contains(.boolean) { return .bool(false) }
        if kinds.contains(.integer) || kinds.contains(.number) { return .integer(0) }
        if kinds.contains(.array) { return .array([]) }
        return .object(properties.filter { required.contains($0.key) }.mapValues(\.sample))
    }

    private static let sampleTexts = [
        "date-time": "1970-01-01T00:00:00Z",
        "uri": "https://example.com/",
        "uuid": "00000000-0000-0000-0000-000000000000",
    ]

    func sample<Value: Decodable>(as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: JSONEncoder().encode(sample))
    }
}
