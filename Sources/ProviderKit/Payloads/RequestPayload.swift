/// A JSON object that a client sends, declared by its list of fields.
///
/// The server decodes the object with this list, and generates the request's schema in the OpenAPI document from it.
///
/// ```swift
/// public struct Credential: RequestPayload {
///     public let token: String
///     public let nonce: String?
///
///     public static let fields = RequestFields(Self.init, .init("token"), .init("nonce"))
/// }
/// ```
public protocol RequestPayload: RequestValue {
    /// The initializer, and one field for each of its parameters.
    static var fields: RequestFields<Self> { get }
}

extension RequestPayload {
    /// An object with these fields.
    public static var schema: JSONSchema { fields.schema }

    /// Reads the fields in their order.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }
}

/// The fields of a request's JSON object, and the initializer that takes their values.
public struct RequestFields<Payload>: Sendable {
    fileprivate let members: [RequestMember]
    fileprivate let read: @Sendable (any Decoder) throws -> Payload

    /// Fields in the order of the initializer's parameters.
    public init<each Value: RequestValue>(
        _ makePayload: @escaping @Sendable (repeat each Value) -> Payload, _ field: repeat RequestField<each Value>
    ) {
        var members: [RequestMember] = []
        for field in repeat each field { members += field.members }
        self.members = members
        read = { decoder in
            let values = try decoder.container(keyedBy: FieldName.self)
            return makePayload(repeat try (each field).read(decoder, values))
        }
    }

    fileprivate var schema: JSONSchema {
        .object(
            Dictionary(members.map { ($0.name, $0.schema) }) { $1 },
            required: Set(members.filter(\.isRequired).map(\.name)))
    }

    /// The member whose size is limited, if there is one.
    package var limit: JSONText.MemberLimit? {
        members.lazy.compactMap { member in member.largest.map { .init(name: member.name, bytes: $0) } }.first
    }
}

/// One field of a request's JSON object.
public struct RequestField<Value: RequestValue>: Sendable {
    fileprivate let members: [RequestMember]
    fileprivate let read: @Sendable (any Decoder, KeyedDecodingContainer<FieldName>) throws -> Value

    /// Creates a field, which the OpenAPI document declares as required unless `Value` is an optional.
    /// - Parameters:
    ///   - name: The member's name.
    ///   - schema: The schema of the value in the OpenAPI document.
    ///   - isRequired: `true` for an optional whose absence the server refuses with an error of its own.
    public init(_ name: String, _ schema: JSONSchema = Value.schema, isRequired: Bool = Value.isRequired) {
        self.init(name, schema, isRequired: isRequired, largest: nil)
    }

    /// A field whose JSON must be at most `largest` bytes long, not counting blanks and needless escapes.
    package init(_ name: String, _ schema: JSONSchema, isRequired: Bool = Value.isRequired, largest: Int?) {
        members = [RequestMember(name: name, schema: schema, isRequired: isRequired, largest: largest)]
        let name = FieldName(stringValue: name)
        read = { _, values in try Value.read(name, of: values) }
    }
}

extension RequestField where Value: RequestPayload {
    /// Adds the fields of another payload to the same object; those in `required` are required too.
    package init(flattening payload: Value.Type, required: [String] = []) {
        members = payload.fields.members.map { member in
            var member = member
            member.isRequired = member.isRequired || required.contains(member.name)
            return member
        }
        read = { decoder, _ in try Value(from: decoder) }
    }
}

/// The properties of a field that the OpenAPI document and the check of a body's size use.
private struct RequestMember: Sendable {
    let name: String
    let schema: JSONSchema
    var isRequired: Bool
    let largest: Int?
}

/// The name of a field.
public struct FieldName: CodingKey {
    /// The name.
    public let stringValue: String
    /// Always `nil`.
    public var intValue: Int? { nil }

    /// Creates the name of a field.
    public init(stringValue: String) { self.stringValue = stringValue }

    /// Always `nil`: fields have names.
    public init?(intValue: Int) { nil }
}
