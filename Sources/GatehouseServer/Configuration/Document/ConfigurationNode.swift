/// A value of the configuration file, before anything is known of what it means.
///
/// Scalars are the text that stands in the file: whether `08`, `NO` or `1.10` is a number, a flag or a word is for its
/// reader to say, not for YAML's rules.
struct ConfigurationNode: Sendable {
    enum Content: Sendable {
        /// `null`, `~` or nothing at all, unquoted.
        case null
        case scalar(String)
        case list([ConfigurationNode])
        case table([Entry])
    }

    struct Entry: Sendable {
        let key: String
        let line: Int
        let value: ConfigurationNode
    }

    /// Of the place where the value is written, which for an alias is its anchor's.
    let line: Int
    let content: Content

    var isNull: Bool {
        if case .null = content { true } else { false }
    }

    /// The value at that key, when this is a table that has it.
    subscript(key: String) -> Entry? {
        guard case .table(let entries) = content else { return nil }
        return entries.first { $0.key == key }
    }
}

/// Equal when they say the same; where they stand doesn't matter.
extension ConfigurationNode: Hashable {
    static func == (one: Self, other: Self) -> Bool {
        switch (one.content, other.content) {
        case (.null, .null): true
        case (.scalar(let one), .scalar(let other)): one == other
        case (.list(let one), .list(let other)): one == other
        case (.table(let one), .table(let other)):
            one.elementsEqual(other) { $0.key == $1.key && $0.value == $1.value }
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch content {
        case .null:
            hasher.combine(0)
        case .scalar(let text):
            hasher.combine(1)
            hasher.combine(text)
        case .list(let values):
            hasher.combine(2)
            hasher.combine(values)
        case .table(let entries):
            hasher.combine(3)
            hasher.combine(entries.count)
            for entry in entries {
                hasher.combine(entry.key)
                hasher.combine(entry.value)
            }
        }
    }
}
