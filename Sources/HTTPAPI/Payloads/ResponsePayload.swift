internal import Accounts
package import Foundation
package import ProviderKit

/// A JSON object in a response, declared by a list of fields, from which both the JSON and the OpenAPI schema are
/// generated.
package protocol ResponsePayload: ResponseValue {
    static var fields: ResponseFields<Self> { get }
}

extension ResponsePayload {
    package static var schema: JSONSchema { fields.schema }
    package func write(to json: inout JSONObjectWriter) { json.writeObject { Self.fields.write(self, to: &$0) } }

    /// The object as JSON.
    package var json: [UInt8] {
        var writer = JSONObjectWriter()
        Self.fields.write(self, to: &writer)
        return writer.finished()
    }
}

/// The fields of a response's JSON object, in the order in which they are written.
package struct ResponseFields<Payload: Sendable>: Sendable {
    package typealias FurtherMembers = @Sendable (Payload) -> [String: JSONValue]

    private let name: String
    fileprivate let fields: [Field<Payload>]
    private let furtherMembers: FurtherMembers?

    /// Creates the fields of an object whose schema is the component `name` of the OpenAPI document.
    ///
    /// `furtherMembers` returns members whose names depend on the data. They are not documented, and none of them
    /// replaces a field.
    init(_ name: String, furtherMembers: FurtherMembers? = nil, @FieldList<Payload> fields: () -> [Field<Payload>]) {
        self.name = name
        self.furtherMembers = furtherMembers
        self.fields = fields()
    }

    package var schema: JSONSchema {
        let members = fields.flatMap(\.members)
        return .object(
            Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.schema) }),
            required: Set(members.filter(\.isRequired).map(\.name)), named: name)
    }

    package func write(_ payload: Payload, to json: inout JSONObjectWriter) {
        // By index, because a loop over the fields would also retain their schemas.
        for index in fields.indices { fields[index].write(payload, &json) }
        guard let members = furtherMembers?(payload) else { return }
        for (name, value) in members where !hasField(name) { json.add(name, value) }
    }

    private func hasField(_ name: String) -> Bool {
        fields.contains { field in field.members.contains { $0.name.hasSameBytes(as: name) } }
    }
}

/// One field of a response's JSON object.
package struct Field<Payload: Sendable>: Sendable {
    fileprivate typealias Write = @Sendable (Payload, inout JSONObjectWriter) -> Void

    fileprivate let members: [(name: String, schema: JSONSchema, isRequired: Bool)]
    fileprivate let write: Write

    /// A field that is always present.
    init<Value: ResponseValue>(
        _ name: String, as schema: JSONSchema = Value.schema, _ value: @escaping @Sendable (Payload) -> Value
    ) { self.init(name, schema, isRequired: true) { $1.add(written: $2, value($0)) } }

    /// A field that is `null` if it has no value.
    init<Value: ResponseValue>(
        _ name: String, as schema: JSONSchema = Value.schema, orNull value: @escaping @Sendable (Payload) -> Value?
    ) { self.init(name, schema.nullable, isRequired: true) { $1.add(written: $2, value($0)) } }

    /// A field that is absent if it has no value.
    init<Value: ResponseValue>(
        _ name: String, as schema: JSONSchema = Value.schema, ifAny value: @escaping @Sendable (Payload) -> Value?
    ) {
        self.init(name, schema, isRequired: false) { payload, json, name in
            if let value = value(payload) { json.add(written: name, value) }
        }
    }

    /// All fields of another payload, in the same object.
    init<Part: ResponsePayload>(flattening part: @escaping @Sendable (Payload) -> Part) {
        members = Part.fields.fields.flatMap(\.members)
        write = { Part.fields.write(part($0), to: &$1) }
    }

    /// A field whose name is quoted once, at creation; names are literals that need no escaping.
    private init(
        _ name: String, _ schema: JSONSchema, isRequired: Bool,
        write: @escaping @Sendable (Payload, inout JSONObjectWriter, [UInt8]) -> Void
    ) {
        let written = Array("\"\(name)\":".utf8)
        members = [(name, schema, isRequired)]
        self.write = { write($0, &$1, written) }
    }
}

/// Lets a payload list its fields one per line.
@resultBuilder
enum FieldList<Payload: Sendable> {
    static func buildExpression(_ field: Field<Payload>) -> Field<Payload> { field }
    static func buildBlock(_ fields: Field<Payload>...) -> [Field<Payload>] { fields }
}

// MARK: - Values

/// A value that a field of a response can have.
package protocol ResponseValue: DocumentedValue, JSONWritable {}

extension String: ResponseValue {}
extension Bool: ResponseValue {}
extension Int: ResponseValue {}
extension JSONValue: ResponseValue {}
extension Array: ResponseValue where Element: ResponseValue {}

extension UUID: ResponseValue {
    package func write(to json: inout JSONObjectWriter) { text.write(to: &json) }
}

extension Date: ResponseValue {
    package static let schema: JSONSchema = {
        var schema = JSONSchema(.string, format: "date-time")
        schema.examples = ["2024-01-30T08:00:00.000Z"]
        return schema
    }()

    package func write(to json: inout JSONObjectWriter) { Timestamp(self).text.write(to: &json) }
}

/// An instant in whole seconds, for clients whose parser of RFC 3339 refuses fractions, such as Foundation's `.iso8601`.
struct WholeSeconds: ResponseValue {
    let date: Date

    static let schema: JSONSchema = {
        var schema = JSONSchema(.string, format: "date-time")
        schema.examples = ["2024-01-30T08:00:00Z"]
        return schema
    }()

    init(_ date: Date) { self.date = date }

    func write(to json: inout JSONObjectWriter) { Timestamp(date).textInSeconds.write(to: &json) }
}
