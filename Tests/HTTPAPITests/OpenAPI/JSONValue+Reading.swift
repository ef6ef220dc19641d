import ProviderKit

/// Accessors for JSON values. Missing members are `nil` or empty.
extension JSONValue {
    enum Step: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case key(String)
        case index(Int)

        init(stringLiteral key: String) {
            self = .key(key)
        }

        init(integerLiteral index: Int) {
            self = .index(index)
        }
    }

    subscript(steps: Step...) -> JSONValue? {
        steps.reduce(self) { value, step in
            switch step {
            case .key(let key): value?.members[key]
            case .index(let index): value.flatMap { $0.elements.indices.contains(index) ? $0.elements[index] : nil }
            }
        }
    }

    var members: [String: JSONValue] {
        if case .object(let members) = self { members } else { [:] }
    }

    var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// The value itself and all values inside.
    var everything: [JSONValue] {
        [self] + members.values.flatMap(\.everything) + elements.flatMap(\.everything)
    }
}
