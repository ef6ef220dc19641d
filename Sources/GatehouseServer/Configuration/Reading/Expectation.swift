/// What a value of the file has to look like, and what it then is: the reader of a section is built from these, so
/// that the keys it knows, their forms and the words that refuse anything else are one declaration.
struct Expectation<Value> {
    /// - Returns: `nil` exactly when something was reported.
    let read: (Located) -> Value?

    init(_ read: @escaping (Located) -> Value?) {
        self.read = read
    }
}

/// A value and where it stands.
struct Located {
    let node: ConfigurationNode
    let place: Place
    let reading: ConfigurationReading

    func report(_ reason: String) {
        reading.report(reason, at: place)
    }

    func report(expected description: String) {
        report("expected \(description)")
    }

    /// The scalar's text with its environment variables filled in.
    func text(expected description: String) -> String? {
        guard case .scalar(let text) = node.content else {
            report(expected: description)
            return nil
        }
        return reading.expand(text, at: place)
    }

    /// Of a mapping; none of anything else.
    var keys: [String] {
        guard case .table(let entries) = node.content else { return [] }
        return entries.map(\.key)
    }

    var items: [Located]? {
        guard case .list(let nodes) = node.content else { return nil }
        return nodes.enumerated().map { index, node in
            Located(node: node, place: place.item(index, line: node.line), reading: reading)
        }
    }
}

/// A value that a later check may still have to point at.
struct Placed<Value> {
    let value: Value
    let located: Located
}

extension Expectation {
    /// One piece of text that `parse` understands.
    static func scalar(_ description: String, _ parse: @escaping (String) -> Value?) -> Self {
        Self { located in
            guard let text = located.text(expected: description) else { return nil }
            guard let value = parse(text) else {
                located.report(expected: description)
                return nil
            }
            return value
        }
    }

    /// As `scalar`, but `file:PATH` stands for the file's content.
    static func secret(_ description: String, _ parse: @escaping (String) -> Value?) -> Self {
        Self { located in
            guard let text = located.text(expected: description),
                let secret = located.reading.secret(text, at: located.place)
            else { return nil }
            guard let value = parse(secret) else {
                located.report(expected: description)
                return nil
            }
            return value
        }
    }

    /// Named values, of which `read` asks for those it knows; any other is refused.
    static func table(_ read: @escaping (Table) -> Value?) -> Self {
        Self { located in
            guard let table = Table(located) else {
                located.report(expected: "a mapping")
                return nil
            }
            let value = read(table)
            table.refuseUnknownKeys()
            return value
        }
    }

    /// The value together with its place.
    var placed: Expectation<Placed<Value>> {
        .init { located in self.read(located).map { Placed(value: $0, located: located) } }
    }

    /// Any number of values, each of that form; those that are refused are left out.
    static func list<Element>(of element: Expectation<Element>) -> Self where Value == [Element] {
        Self { located in
            guard let items = located.items else {
                located.report(expected: "a list")
                return nil
            }
            return items.compactMap(element.read)
        }
    }

    /// A mapping whose keys are names of the administrator's own choice, in the file's order.
    static func named<Element>(
        _ element: @escaping (String) -> Expectation<Element>
    ) -> Self where Value == [(name: String, value: Element)] {
        .table { table in
            table.entries.compactMap { name, located in
                guard name.isConfiguredName else {
                    located.report("a name is 1 to 63 of a-z, 0-9, _ and -, the first a letter or digit")
                    return nil
                }
                return element(name).read(located).map { (name, $0) }
            }
        }
    }
}

extension String {
    /// What applications and providers may be called: their names are parts of paths and keys in the database.
    fileprivate var isConfiguredName: Bool {
        (1...63).contains(utf8.count) && first != "_" && first != "-"
            && utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F || byte == 0x2D
            }
    }
}
