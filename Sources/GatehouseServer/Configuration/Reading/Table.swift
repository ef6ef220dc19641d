/// A mapping that is being read.
///
/// Asking for a key is what makes it known.
final class Table {
    let located: Located
    private let values: [ConfigurationNode.Entry]
    private var knownKeys: [String] = []

    /// - Returns: `nil` for what is no mapping; nothing at all is an empty one.
    init?(_ located: Located) {
        switch located.node.content {
        case .table(let entries): values = entries
        case .null: values = []
        default: return nil
        }
        self.located = located
    }

    /// The value at a key; `null` is as good as absent.
    func value(_ key: String) -> Located? {
        guard let value = anyValue(key), !value.node.isNull else { return nil }
        return value
    }

    func has(_ key: String) -> Bool {
        value(key) != nil
    }

    func optional<Value>(_ key: String, _ expectation: Expectation<Value>) -> Value? {
        value(key).flatMap(expectation.read)
    }

    func read<Value>(_ key: String, _ expectation: Expectation<Value>, default fallback: Value) -> Value {
        optional(key, expectation) ?? fallback
    }

    func required<Value>(_ key: String, _ expectation: Expectation<Value>) -> Value? {
        guard let value = value(key) else {
            report("is required", at: key)
            return nil
        }
        return expectation.read(value)
    }

    /// A mapping that is read even where it is absent, so that its own defaults and required keys are what counts.
    func section<Value>(_ key: String, _ expectation: Expectation<Value>) -> Value? {
        let absent = ConfigurationNode(line: located.node.line, content: .null)
        let place = located.place.key(key, line: line(of: key))
        return expectation.read(anyValue(key) ?? Located(node: absent, place: place, reading: located.reading))
    }

    /// Every key with its value: all are known then.
    var entries: [(key: String, value: Located)] {
        knownKeys += values.map(\.key)
        return values.map { ($0.key, located(at: $0)) }
    }

    /// Refuses the value at a key, or its absence.
    func report(_ reason: String, at key: String) {
        located.reading.report(reason, at: located.place.key(key, line: line(of: key)))
    }

    func refuseUnknownKeys() {
        let known = Set(knownKeys)
        for entry in values where !known.contains(entry.key) {
            let place = located.place.key(entry.key, line: entry.line)
            located.reading.report("unknown key, expected one of \(knownKeys.joined(separator: ", "))", at: place)
        }
    }

    private func anyValue(_ key: String) -> Located? {
        if !knownKeys.contains(key) { knownKeys.append(key) }
        return values.first { $0.key == key }.map(located(at:))
    }

    private func located(at entry: ConfigurationNode.Entry) -> Located {
        // A block mapping begins on the line after its key, and the key is what an admin looks for.
        Located(node: entry.value, place: located.place.key(entry.key, line: entry.line), reading: located.reading)
    }

    private func line(of key: String) -> Int? {
        values.first { $0.key == key }?.line ?? located.place.line
    }
}
