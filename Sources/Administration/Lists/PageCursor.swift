package import Accounts
internal import Foundation
internal import ProviderKit

/// A part of a list, and where the next part begins.
package struct Page<Item: Sendable>: Sendable {
    package let items: [Item]
    /// The cursor of the next part; `nil` after the last one.
    package let next: String?

    package init(items: [Item], next: String?) { (self.items, self.next) = (items, next) }
}

/// Where a list continues: the sort key of the last item that was sent.
///
/// A cursor is authenticated together with its application, route and filter, so that one of another list is refused.
package struct PageCursors: Sendable {
    private let opaque: any OpaqueTokens

    /// The numbers of items that a client may request at once, and how many it gets if it names none.
    package static let limits = 1...200
    package static let standardLimit = 50

    package init(opaque: any OpaqueTokens) { self.opaque = opaque }

    /// The list that a cursor belongs to; `filter` has every parameter that selects or orders items.
    package struct List: Sendable {
        let application: Application.ID
        let route: String
        let filter: [String: String]

        package init(_ route: String, filter: [String: String] = [:], of application: Application) {
            (self.application, self.route, self.filter) = (application.id, route, filter)
        }
    }

    /// Makes a page of `items`, of which the caller has read `limit` and one more, if there are that many.
    package func page<Item>(
        of items: [Item], limit: Int, in list: List, position: (Item) -> [String]
    ) -> Page<Item> {
        let sent = Array(items.prefix(limit))
        let next = items.count > limit ? sent.last.map { write(position($0), in: list) } : nil
        return Page(items: sent, next: next)
    }

    /// The sort key in a cursor that a client has sent; `nil` for the beginning.
    ///
    /// - Throws: `AccountsError.invalidParameter` for a cursor of another list.
    package func position(in cursor: String?, of list: List, count: Int) throws -> [String]? {
        guard let cursor else { return nil }
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let json = Data(base64URL: parts[0]),
            let position = try? JSONDecoder().decode([String].self, from: json), position.count == count,
            ConstantTime.areEqual(Array(write(position, in: list).utf8), Array(cursor.utf8))
        else { throw AccountsError.invalidParameter("after", reason: "is not a cursor of this list") }
        return position
    }

    /// The time in microseconds and the id in a cursor; `nil` for the beginning.
    ///
    /// - Throws: `AccountsError.invalidParameter` for a cursor of another list.
    func timedPosition(in cursor: String?, of list: List) throws -> (at: Int, id: UUID)? {
        try position(in: cursor, of: list, count: 2).flatMap { parts in
            Int(parts[0]).flatMap { at in UUID(uuidString: parts[1]).map { (at: at, id: $0) } }
        }
    }

    private func write(_ position: [String], in list: List) -> String {
        let json = JSONValue.array(position.map { .string($0) }).text
        let filter = list.filter.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
        let whole = JSONValue.array(
            ([list.application.description, list.route, json] + filter).map { .string($0) })
        let mac = opaque.pseudonym(of: whole.text, purpose: "cursor").prefix(16)
        return Digest.base64URL(Array(json.utf8)) + "." + Digest.base64URL(Array(mac))
    }
}
