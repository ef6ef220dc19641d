internal import ProviderKit

extension JSONSchema {
    /// The schema of what the type's own `init(from:)` reads: it is run on made-up values while a decoder takes notes.
    ///
    /// A key that is read by `decodeIfPresent` is not required and reads as absent; `@Nullable` fields are required and
    /// may be `null`. Where the initializer refuses the made-up values, the schema holds what was read until then and
    /// `gap` says why; such a type had better adopt `DocumentedSchema`.
    init(probing type: any Decodable.Type) {
        self = ProbingDecoder(record: SchemaRecord(), underWay: [], codingPath: []).schema(of: type)
    }
}

/// A decoder that reads nothing: it notes what is asked of it and answers with made-up values.
struct ProbingDecoder: Decoder {
    let record: SchemaRecord
    /// The types whose initializers are running, the outermost first; meeting one of them again is a recursion.
    let underWay: [SchemaName]
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        record.isObject = true
        return KeyedDecodingContainer(KeyedProbe(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        UnkeyedProbe(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleValueProbe(decoder: self)
    }

    /// A decoder for what stands at a key.
    func nested(_ record: SchemaRecord, at key: any CodingKey) -> ProbingDecoder {
        ProbingDecoder(record: record, underWay: underWay, codingPath: codingPath + [key])
    }
}

// MARK: - Types

extension ProbingDecoder {
    /// What probing one type gave; without a value, whoever asked for one can't go on.
    struct Finding<Value> {
        let schema: JSONSchema
        let value: Result<Value, any Error>
    }

    func schema<Value: Decodable>(of type: Value.Type) -> JSONSchema {
        probe(type).schema
    }

    func probe<Value: Decodable>(_ type: Value.Type) -> Finding<Value> {
        if let schema = statedSchema(of: type) {
            return Finding(schema: schema, value: Result { try schema.sample(as: type) })
        }
        let name = SchemaName(type)
        guard !underWay.contains(name) else {
            return Finding(schema: .reference(to: name), value: .failure(endless(type)))
        }
        let record = SchemaRecord()
        let decoder = ProbingDecoder(record: record, underWay: underWay + [name], codingPath: codingPath)
        let value = Result { try Value(from: decoder) }
        var schema = record.schema
        if record.isObject {
            schema.name = name
        }
        if let type = type as? any DocumentedFields.Type {
            schema = schema.refined(by: type)
        }
        if case .failure(let error) = value {
            schema.gap = "\(name.short): \(error)"
        }
        return Finding(schema: schema, value: value)
    }

    /// The schema of a type that need not be run.
    private func statedSchema(of type: any Decodable.Type) -> JSONSchema? {
        switch type {
        case let type as any DocumentedSchema.Type:
            type.schema
        case let type as any DocumentedContainer.Type:
            type.schema { schema(of: $0) }
        case let type as any CaseIterable.Type:
            rawValues(of: type)
        default:
            nil
        }
    }

    private func rawValues<Cases: CaseIterable>(of type: Cases.Type) -> JSONSchema? {
        let values = type.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        return values.isEmpty ? nil : .enumeration(values)
    }

    private func endless(_ type: any Any.Type) -> DecodingError {
        .valueNotFound(type, .init(codingPath: codingPath, debugDescription: "the type holds itself without end"))
    }
}
