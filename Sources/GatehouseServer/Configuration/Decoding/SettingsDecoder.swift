internal import Foundation

/// Decodes settings that `SettingsReader` has checked, both those of the server and those of providers.
///
/// A scalar is parsed as the type that is requested. A `Duration` is a number of seconds. The coding path contains the
/// place of each value, so that an error from a type's own `init(from:)` can be reported with its line.
struct SettingsDecoder: Decoder {
    let node: ConfigurationNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ node: ConfigurationNode, at codingPath: [any CodingKey] = []) {
        self.node = node
        self.codingPath = codingPath
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .table = node.content else { throw mismatch([String: Any].self, "a mapping") }
        return KeyedDecodingContainer(KeyedSettings(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .list = node.content else { throw mismatch([Any].self, "a list") }
        return ListedSettings(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// Decodes a value for all containers.
    fileprivate func value<T: Decodable>(_ type: T.Type) throws -> T {
        if type is Duration.Type, let duration = Duration.seconds(try decode(Int64.self)) as? T { return duration }
        guard type is URL.Type else { return try T(from: self) }
        guard let url = URL(string: try decode(String.self)) as? T else { throw mismatch(type, "a URL") }
        return url
    }

    fileprivate func child(_ node: ConfigurationNode, _ name: String, index: Int? = nil) -> SettingsDecoder {
        SettingsDecoder(node, at: codingPath + [Step(stringValue: name, intValue: index, place: node.place)])
    }

    fileprivate func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "expected \(expected)"))
    }
}

extension SettingsDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { node.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // The standard library's scalar types can all be parsed from text.
        guard let scalar = type as? any LosslessStringConvertible.Type else { return try value(type) }
        guard let value = node.text.flatMap({ scalar.init($0) }) as? T else {
            let expected =
                switch type {
                case is Bool.Type: "true or false"
                case is String.Type: "text"
                case is any BinaryInteger.Type: "a whole number"
                default: "a number"
                }
            throw mismatch(type, expected)
        }
        return value
    }
}

private struct KeyedSettings<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SettingsDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.node.entries.compactMap { Key(stringValue: $0.key) } }
    func contains(_ key: Key) -> Bool { decoder.node.entries.contains { $0.key == key.stringValue } }
    func decodeNil(forKey key: Key) throws -> Bool { try child(key).decodeNil() }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try child(key).value(type) }
    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { try child(key) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { try child(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key).unkeyedContainer()
    }

    private func child(_ key: Key) throws -> SettingsDecoder {
        guard let entry = decoder.node.entries.first(where: { $0.key == key.stringValue }) else {
            let path = codingPath + [Step(stringValue: key.stringValue, place: decoder.node.place(of: key.stringValue))]
            throw DecodingError.keyNotFound(key, .init(codingPath: path, debugDescription: "is required"))
        }
        return decoder.child(entry.value, entry.key)
    }
}

private struct ListedSettings: UnkeyedDecodingContainer {
    let decoder: SettingsDecoder
    var currentIndex = 0
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { decoder.node.items.count }
    var isAtEnd: Bool { currentIndex >= decoder.node.items.count }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, decoder.node.items[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().value(type) }
    mutating func superDecoder() throws -> any Decoder { try next() }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> { try next().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }

    private mutating func next() throws -> SettingsDecoder {
        guard !isAtEnd else { throw decoder.mismatch([Any].self, "a longer list") }
        defer { currentIndex += 1 }
        return decoder.child(decoder.node.items[currentIndex], "\(currentIndex)", index: currentIndex)
    }
}

/// A step of a coding path, with the place of its value in the file.
private struct Step: CodingKey {
    let stringValue: String
    let intValue: Int?
    let place: Place?

    init(stringValue: String, intValue: Int? = nil, place: Place?) {
        self.stringValue = stringValue
        self.intValue = intValue
        self.place = place
    }

    init(stringValue: String) { self.init(stringValue: stringValue, place: nil) }
    init(intValue: Int) { self.init(stringValue: "\(intValue)", intValue: intValue, place: nil) }
}

extension DecodingError {
    private var context: Context? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context),
            .keyNotFound(_, let context):
            context
        @unknown default: nil
        }
    }

    /// The place of the value that could not be decoded, or of the missing key.
    var place: Place? { (context?.codingPath.last as? Step)?.place }
    var reason: String { context?.debugDescription ?? "is not valid" }
}

/// A key of a section that a type decodes by hand.
struct SettingName: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init(stringLiteral value: String) { stringValue = value }
    init?(intValue: Int) { nil }
}
