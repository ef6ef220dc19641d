import Foundation
import ProviderKit

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
    init(nilLiteral: ()) { self = .null }

    /// This object with further members; `null` takes one away.
    func with(_ members: [String: JSONValue]) -> JSONValue {
        .object((object ?? [:]).merging(members) { $1 }.filter { !$0.value.isNull })
    }

    var data: Data {
        get throws { try JSONEncoder().encode(self) }
    }
}
