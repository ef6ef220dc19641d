/// Where a value is in the configuration file.
struct Place: Sendable, Equatable {
    /// The line number, counted from 1; `nil` for the file as a whole.
    let line: Int?
    /// The path of the setting, such as `applications.demo.redirectURIs[0].pkce`.
    let path: String

    /// The place of the value under a key.
    ///
    /// A key that isn't one plain word is quoted and shortened, so that paths stay readable for any file.
    func key(_ key: String, line: Int?) -> Place {
        let isWord =
            (1...64).contains(key.utf8.count)
            && key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
        let name = isWord ? key : "\"\(key.prefix(64))\""
        return Place(line: line ?? self.line, path: path.isEmpty ? name : "\(path).\(name)")
    }

    func item(_ index: Int, line: Int?) -> Place { Place(line: line ?? self.line, path: "\(path)[\(index)]") }
}

/// A value of the configuration file and its place.
///
/// Scalars keep the text from the file: the setting decides whether `08`, `NO` or `1.10` is a number, a flag or a word.
struct ConfigurationNode: Sendable {
    enum Content: Sendable, Hashable {
        /// An unquoted `null` or `~`, or an empty value.
        case null
        case scalar(String)
        case list([ConfigurationNode])
        case table([Entry])
    }

    struct Entry: Sendable, Hashable {
        let key: String
        let value: ConfigurationNode
    }

    let content: Content
    /// The place of the value; for a value in a mapping, the line is that of its key, because a block mapping begins on
    /// the line after its key.
    let place: Place

    var isNull: Bool { content == .null }

    var text: String? {
        if case .scalar(let text) = content { text } else { nil }
    }

    var items: [ConfigurationNode] {
        if case .list(let items) = content { items } else { [] }
    }

    /// The entries of a mapping, in the order of the file.
    var entries: [Entry] {
        if case .table(let entries) = content { entries } else { [] }
    }

    /// The value at a key.
    ///
    /// `null` counts as absent.
    subscript(key: String) -> ConfigurationNode? { entries.first { $0.key == key && !$0.value.isNull }?.value }

    /// The place of a key, or that of the mapping if the key is absent.
    func place(of key: String) -> Place { entries.first { $0.key == key }?.value.place ?? place.key(key, line: nil) }
    func with(_ content: Content) -> ConfigurationNode { ConfigurationNode(content: content, place: place) }
}

/// Nodes are equal if their contents are equal, regardless of their places.
extension ConfigurationNode: Hashable {
    static func == (one: Self, other: Self) -> Bool { one.content == other.content }
    func hash(into hasher: inout Hasher) { content.hash(into: &hasher) }
}

/// Allows literals as default values of settings.
extension ConfigurationNode.Content: ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    init(stringLiteral text: String) { self = .scalar(text) }
    init(arrayLiteral items: String...) { self.init(items) }

    /// Creates an empty mapping, in which each key has its own default.
    init(dictionaryLiteral elements: (String, Never)...) { self = .table([]) }

    init(_ items: [String]) {
        self = .list(items.map { ConfigurationNode(content: .scalar($0), place: Place(line: nil, path: "")) })
    }
}
