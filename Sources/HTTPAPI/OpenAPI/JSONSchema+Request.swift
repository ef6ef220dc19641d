extension JSONSchema {
    /// The schema of the same value where a request sends it.
    ///
    /// An explicit `null` is an absent field, unknown fields are ignored, and U+0000 is refused everywhere. Written
    /// without names: the same type in an answer has another schema.
    var sent: JSONSchema {
        guard self != .any else { return .anything }
        guard name != JSONSchema.anything.name else { return self }
        var schema = self
        schema.name = nil
        if kinds.contains(.string), format == nil, pattern == nil, values.isEmpty {
            schema.pattern = Self.noNUL
        }
        schema.items = items?.sent
        if kinds.contains(.object) {
            schema.properties = properties.reduce(into: [:]) { sent, member in
                let value = member.value.sent
                sent[member.key] = required.contains(member.key) ? value : value.nullable
            }
            schema.propertyNames = JSONSchema(pattern: Self.noNUL)
            schema.additionalProperties = additionalProperties?.sent ?? .anything
        }
        return schema
    }
}
