internal import Foundation
internal import HTTPAPI
internal import ProviderKit

extension JSONValue {
    /// An object with the members that have a value.
    static func members(_ members: [String: JSONValue?]) -> JSONValue { .object(members.compactMapValues(\.self)) }

    static func time(_ date: Date) -> JSONValue { .string(Timestamp(date).text) }
}
