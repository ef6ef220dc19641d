/// Notes which keys are read, and how.
struct KeyedProbe<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbingDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool {
        true
    }

    /// Whoever asks can do without the value; the default `decodeIfPresent` asks this first and then decodes.
    func decodeNil(forKey key: Key) -> Bool {
        _ = decoder.record.member(key, optional: true)
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let record = decoder.record.member(key)
        let finding = decoder.nested(record, at: key).probe(type)
        record.settle(finding.schema)
        return try finding.value.get()
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) -> Value? {
        let record = decoder.record.member(key, optional: !(type is any AlwaysPresent.Type))
        record.settle(decoder.nested(record, at: key).schema(of: type))
        return nil
    }

    // The protocol has defaults for these that would win over the generic method above, and hand out made-up values.

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) -> Bool? {
        noteIfPresent(type, forKey: key)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) -> String? {
        noteIfPresent(type, forKey: key)
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) -> Int? {
        noteIfPresent(type, forKey: key)
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) -> Double? {
        noteIfPresent(type, forKey: key)
    }

    private func noteIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) -> Value? {
        decodeIfPresent(type, forKey: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedDecodingContainer<NestedKey> {
        superDecoder(at: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        superDecoder(at: key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        superDecoder(at: SuperKey())
    }

    func superDecoder(forKey key: Key) -> any Decoder {
        superDecoder(at: key)
    }

    private func superDecoder(at key: any CodingKey) -> ProbingDecoder {
        decoder.nested(decoder.record.member(key), at: key)
    }
}

/// A list of one element.
struct UnkeyedProbe: UnkeyedDecodingContainer {
    let decoder: ProbingDecoder
    private let element: SchemaRecord
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { 1 }
    var isAtEnd: Bool { currentIndex > 0 }

    init(decoder: ProbingDecoder) {
        self.decoder = decoder
        element = decoder.record.elements()
    }

    mutating func decodeNil() -> Bool {
        element.allowNull()
        return false
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let finding = next().probe(type)
        element.settle(finding.schema)
        return try finding.value.get()
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
        next().unkeyedContainer()
    }

    mutating func superDecoder() -> any Decoder {
        next()
    }

    private mutating func next() -> ProbingDecoder {
        currentIndex += 1
        return ProbingDecoder(record: element, underWay: decoder.underWay, codingPath: decoder.codingPath)
    }
}

/// A value that is read in one piece.
struct SingleValueProbe: SingleValueDecodingContainer {
    let decoder: ProbingDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool {
        decoder.record.allowNull()
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let finding = decoder.probe(type)
        decoder.record.settle(finding.schema)
        return try finding.value.get()
    }
}

/// Where `superDecoder()` without a key reads.
private struct SuperKey: CodingKey {
    let stringValue = "super"
    let intValue: Int? = nil

    init() {}

    init?(stringValue: String) {
        return nil
    }

    init?(intValue: Int) {
        return nil
    }
}
