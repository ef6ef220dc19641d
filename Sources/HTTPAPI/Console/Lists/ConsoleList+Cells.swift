internal import Console
internal import Foundation
internal import ProviderKit

extension ConsoleList.Column {
    /// A member with words for its value, as the choices of the field have them.
    static func words(_ title: String, _ member: String, of field: String) -> Self {
        Self(title) { item, _ in
            item[path: member].string.map { .string(ConsoleTemplates.words(for: $0, of: field)) } ?? .null
        }
    }

    /// The account of a `uid`, as a link for those who may look at accounts.
    static func account(_ title: String) -> Self {
        Self(title) { item, request in
            // An erased account has no page.
            let isErased = !item["erasedAt"].isNull || item["type"] == "account.erased"
            return isErased ? item["uid"] : request.accountLink(item["uid"])
        }
    }

    /// When a queued item is tried next, or when it was delivered or given up.
    static let fate = Self("Due or ended") { item, _ in
        ["dueAt", "deliveredAt", "failedAt"].map { item[$0] }.first { !$0.isNull } ?? .null
    }
}

extension JSONValue {
    /// The time that the text stands for (RFC 3339); `nil` for another value.
    var time: Date? { string.flatMap { Timestamp($0) }?.date }

    /// The value in one line: `rule: provider.off, addresses: (kind: email)`.
    var inline: String {
        switch self {
        case .null: "none"
        case .bool(let isTrue): isTrue ? "yes" : "no"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .string(let text): text
        case .array(let items): items.map(\.inlinePart).joined(separator: ", ")
        case .object(let members):
            members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.inlinePart)" }.joined(separator: ", ")
        }
    }

    /// The value as a part of a line, with brackets around several values.
    private var inlinePart: String {
        switch self {
        case .array, .object: "(\(inline))"
        default: inline
        }
    }
}
