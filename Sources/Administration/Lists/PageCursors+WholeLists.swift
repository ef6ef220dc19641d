internal import Accounts
internal import Foundation
internal import ProviderKit

/// The sort key of an item in a list that is read as a whole: a time to the microsecond, then an id.
struct TimedKey: Comparable {
    let microseconds: Int64
    let id: String

    /// `isNewestFirst` orders by the time backwards; items of one time are ordered by id either way.
    init(_ time: Date, _ id: UUID, isNewestFirst: Bool) {
        let exact = Int64(exactly: (time.timeIntervalSinceReferenceDate * 1_000_000).rounded()) ?? 0
        (microseconds, self.id) = (isNewestFirst ? -exact : exact, id.uuidString)
    }

    init?(written: [String]) {
        guard written.count == 2, let microseconds = Int64(written[0]) else { return nil }
        (self.microseconds, id) = (microseconds, written[1])
    }

    var written: [String] { [String(microseconds), id] }

    static func < (one: Self, other: Self) -> Bool { (one.microseconds, one.id) < (other.microseconds, other.id) }
}

extension PageCursors {
    /// Makes a page of a list that is read as a whole, because one account has few of its items.
    ///
    /// - Throws: `AccountsError.invalidParameter` for the cursor of another list.
    func page<Item>(
        of items: [Item], sortedBy key: (Item) -> TimedKey, _ requested: RequestedPage, in list: List
    ) throws -> Page<Item> {
        let last = try position(in: requested.after, of: list, count: 2).flatMap { TimedKey(written: $0) }
        let rest = last.map { last in items.filter { key($0) > last } } ?? items
        return page(of: rest, limit: requested.limit, in: list) { key($0).written }
    }

    /// Makes a page of a list that is read as a whole, because an application has few of its items.
    ///
    /// A cursor names the last item that was sent. If that is gone, the list continues at its former place.
    /// - Throws: `AccountsError.invalidParameter` for the cursor of another list.
    package func page<Item>(
        of items: [Item], identifiedBy id: (Item) -> String, _ requested: RequestedPage, in list: List
    ) throws -> Page<Item> {
        let ids = items.map(id)
        var start = 0
        if let last = try position(in: requested.after, of: list, count: 2) {
            let former = Int(last[1]).map { min(max($0, 0), items.count) } ?? items.count
            start = ids.firstIndex { $0.hasSameBytes(as: last[0]) }.map { $0 + 1 } ?? former
        }
        return page(of: Array(items.dropFirst(start)), limit: requested.limit, in: list) { item in
            [id(item), String(ids.firstIndex(of: id(item)) ?? 0)]
        }
    }
}
