import Foundation

/// Decodes a provider's settings from nodes.
///
/// A scalar is whatever its reader asks for, a `Duration` is seconds.
struct SettingsDecoder: Decoder {
    let node: ConfigurationNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ node: ConfigurationNode, at codingPath: [any CodingKey] = []) {
        self.node = node
        self.codingPath = codingPath
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .table(let entries) = node.content else { throw mismatch([String: Any].self, "a mapping") }
        return KeyedDecodingContainer(KeyedSettings(entries: entries, decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .list(let items) = node.content else { throw mismatch([Any].self, "a list") }
        return ListedSettings(items: items, decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "expected \(expected)"))
    }

    /// What every container decodes its values with.
    func value<T: Decodable>(_ type: T.Type) throws -> T {
        if type is Duration.Type, let duration = Duration.seconds(try decode(Int64.self)) as? T { return duration }
        guard type is URL.Type else { return try T(from: self) }
        guard let url = URL(string: try decode(String.self)) as? T else { throw mismatch(type, "a URL") }
        return url
    }
}

extension SettingsDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { node.isNull }

    func decode(_ type: Bool.Type) throws -> Bool {
        try scalar("true or false") { ["true": true, "false": false][$0] }
    }

    func decode(_ type: String.Type) throws -> String { try scalar("text") { $0 } }
    func decode(_ type: Double.Type) throws -> Double { try scalar("a number") { Double($0) } }
    func decode(_ type: Float.Type) throws -> Float { try scalar("a number") { Float($0) } }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try value(type) }

    private func integer<T: FixedWidthInteger>() throws -> T {
        try scalar("a whole number") { T($0) }
    }

    private func scalar<T>(_ expected: String, _ parse: (String) -> T?) throws -> T {
        guard case .scalar(let text) = node.content, let value = parse(text) else { throw mismatch(T.self, expected) }
        return value
    }
}

private struct KeyedSettings<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let entries: [ConfigurationNode.Entry]
    let decoder: SettingsDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { entries.compactMap { Key(stringValue: $0.key) } }

    func contains(_ key: Key) -> Bool { entries.contains { $0.key == key.stringValue } }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder(at: key).decodeNil() }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try decoder(at: key).value(type) }
    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(at: key) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(at: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(at: key).unkeyedContainer()
    }

    private func decoder(at key: Key) throws -> SettingsDecoder {
        guard let entry = entries.first(where: { $0.key == key.stringValue }) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "is required"))
        }
        return SettingsDecoder(entry.value, at: codingPath + [key])
    }
}

private struct ListedSettings: UnkeyedDecodingContainer {
    let items: [ConfigurationNode]
    let decoder: SettingsDecoder
    private(set) var currentIndex = 0

    init(items: [ConfigurationNode], decoder: SettingsDecoder) {
        self.items = items
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, items[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().value(type) }
    mutating func superDecoder() throws -> any Decoder { try next() }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }

    private mutating func next() throws -> SettingsDecoder {
        guard !isAtEnd else { throw decoder.mismatch([Any].self, "a longer list") }
        defer { currentIndex += 1 }
        return SettingsDecoder(items[currentIndex], at: codingPath + [Position(intValue: currentIndex)])
    }

    private struct Position: CodingKey {
        let index: Int

        init(intValue: Int) { index = intValue }
        init?(stringValue: String) { return nil }

        var intValue: Int? { index }
        var stringValue: String { "\(index)" }
    }
}

extension DecodingError {
    /// Where the value is that couldn't be decoded, the missing key included.
    var path: [any CodingKey] {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath
        case .keyNotFound(let key, let context): context.codingPath + [key]
        @unknown default: []
        }
    }

    /// A decoder's own words, which for the cases above are this file's.
    var reason: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context),
            .keyNotFound(_, let context):
            context.debugDescription
        @unknown default: "is not valid"
        }
    }
}
