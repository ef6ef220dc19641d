/// The notes of one probe: what was asked of one value.
///
/// A class, since several containers may write to it.
final class SchemaRecord {
    /// Fields were asked for by name.
    var isObject = false
    private var whole: JSONSchema?
    private var isNullable = false
    private var members: [String: SchemaRecord] = [:]
    private var optional: Set<String> = []
    private var element: SchemaRecord?

    /// Notes that the value was read in one piece; the first such reading counts.
    func settle(_ schema: JSONSchema) {
        whole = whole ?? schema
    }

    func allowNull() {
        isNullable = true
    }

    func member(_ key: any CodingKey, optional isOptional: Bool = false) -> SchemaRecord {
        if isOptional {
            optional.insert(key.stringValue)
        }
        let member = members[key.stringValue] ?? SchemaRecord()
        members[key.stringValue] = member
        return member
    }

    /// The elements of a list share one schema.
    func elements() -> SchemaRecord {
        let record = element ?? SchemaRecord()
        element = record
        return record
    }

    /// A type that asks for nothing, as an empty structure does, is written as an empty object.
    var schema: JSONSchema {
        let schema =
            if let whole {
                whole
            } else if let element {
                JSONSchema.array(of: element.schema)
            } else {
                JSONSchema.object(members.mapValues(\.schema), required: Set(members.keys).subtracting(optional))
            }
        return isNullable ? schema.nullable : schema
    }
}
