import Foundation
public import ProviderKit

extension JSONValue: ExpressibleByNilLiteral {
    /// Makes `nil` a literal for JSON's `null`.
    public init(nilLiteral: ()) { self = .null }

    /// Returns a copy of the object with further members.
    ///
    /// `null` removes a member.
    func with(_ members: [String: JSONValue]) -> JSONValue {
        .object((object ?? [:]).merging(members) { $1 }.filter { !$0.value.isNull })
    }

    var data: Data {
        get throws { try JSONEncoder().encode(self) }
    }
}
