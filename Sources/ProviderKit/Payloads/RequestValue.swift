public import Foundation

/// A type with a schema.
public protocol DocumentedValue: Sendable {
    /// The schema of the type's values in the OpenAPI document.
    static var schema: JSONSchema { get }
}

/// A value that a field of a request can have.
public protocol RequestValue: DocumentedValue, Decodable {
    /// Whether the field is required.
    static var isRequired: Bool { get }

    /// Reads the value of one field.
    /// - Throws: `DecodingError`.
    static func read(_ name: FieldName, of values: KeyedDecodingContainer<FieldName>) throws -> Self
}

extension RequestValue {
    /// `true`.
    public static var isRequired: Bool { true }

    /// Decodes the field, which must be present.
    public static func read(_ name: FieldName, of values: KeyedDecodingContainer<FieldName>) throws -> Self {
        try values.decode(Self.self, forKey: name)
    }
}

extension Optional: DocumentedValue where Wrapped: DocumentedValue {
    /// The schema of the value; the field may be absent.
    public static var schema: JSONSchema { Wrapped.schema }
}

extension Optional: RequestValue where Wrapped: RequestValue {
    /// `false`.
    public static var isRequired: Bool { false }

    /// Reads `nil` if the field is absent or `null`.
    public static func read(_ name: FieldName, of values: KeyedDecodingContainer<FieldName>) throws -> Wrapped? {
        try values.decodeIfPresent(Wrapped.self, forKey: name)
    }
}

extension Array: DocumentedValue where Element: DocumentedValue {
    /// A list.
    public static var schema: JSONSchema { .array(of: Element.schema) }
}

extension Array: RequestValue where Element: RequestValue {}

extension String: RequestValue {
    /// Any text.
    public static var schema: JSONSchema { .string }
}

extension Bool: RequestValue {
    /// `true` or `false`.
    public static var schema: JSONSchema { JSONSchema(.boolean) }
}

extension Int: RequestValue {
    /// A whole number of 64 bits.
    public static var schema: JSONSchema { JSONSchema(.integer, format: "int64") }
}

extension UUID: RequestValue {
    /// A UUID.
    public static var schema: JSONSchema { .uuid }
}

extension JSONValue: RequestValue {
    /// Any value.
    public static var schema: JSONSchema { .any }
}

/// An enumeration in a request, decoded by comparing bytes.
package protocol SentChoice: RequestValue, RawRepresentable, CaseIterable where RawValue == String {}

extension SentChoice {
    package static var schema: JSONSchema { .choice(of: Self.self) }

    package init(from decoder: any Decoder) throws {
        guard let choice = try Self(bytesOf: decoder.singleValueContainer().decode(String.self)) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "is none of the choices"))
        }
        self = choice
    }
}
