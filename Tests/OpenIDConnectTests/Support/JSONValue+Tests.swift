import Foundation
public import ProviderKit

extension JSONValue: ExpressibleByNilLiteral {
    /// As in JSON.
    public init(nilLiteral: ()) { self = .null }

    /// This object with further members; `null` removes one.
    func with(_ members: [String: JSONValue]) -> JSONValue {
        .object((object ?? [:]).merging(members) { $1 }.filter { !$0.value.isNull })
    }

    var data: Data {
        get throws { try JSONEncoder().encode(self) }
    }
}
