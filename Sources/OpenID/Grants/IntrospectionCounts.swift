package import Accounts
internal import Foundation
internal import ProviderKit
internal import Synchronization

/// Counts what clients ask about tokens of the API, for one audit event `token.introspected` a client and minute.
///
/// Each replica counts in memory, so that an answer needs no write. A crash loses the counts of the last minute.
package final class IntrospectionCounts: Sendable {
    private struct Key: Hashable {
        let application: Application.ID
        let client: String
        /// Minutes since the epoch.
        let minute: Int
    }

    private struct Count {
        var all = 0
        var active = 0

        func details(of key: Key) -> [String: JSONValue] {
            let minute = Date(timeIntervalSince1970: Double(key.minute) * 60)
            return [
                "client": .string(key.client), "count": .integer(Int64(all)), "active": .integer(Int64(active)),
                "minute": .string(minute.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))),
            ]
        }
    }

    private let trail: any AuditTrail
    private let time: any TimeSource
    private let counts = Mutex<[Key: Count]>([:])

    package init(trail: any AuditTrail, time: any TimeSource) { (self.trail, self.time) = (trail, time) }

    func add(isActive: Bool, client: String, application: Application.ID, at date: Date) {
        let key = Key(application: application, client: client, minute: Self.minute(of: date))
        counts.withLock { counts in
            counts[key, default: Count()].all += 1
            if isActive { counts[key]?.active += 1 }
        }
    }

    /// Writes the events of the minutes that are over; at the end of the server, also that of the current minute.
    /// - Returns: whether there were any.
    @discardableResult
    package func moveToAudit(includingCurrentMinute: Bool = false) async throws -> Bool {
        let current = Self.minute(of: time.now())
        let due = counts.withLock { counts in counts.filter { includingCurrentMinute || $0.key.minute < current } }
        for (key, count) in due {
            try await trail.record(
                AuditEntry(.tokenIntrospected, details: count.details(of: key)), application: key.application)
            counts.withLock { counts in
                // More may have been counted in the current minute.
                counts[key]?.all -= count.all
                counts[key]?.active -= count.active
                if counts[key]?.all == 0 { counts[key] = nil }
            }
        }
        return !due.isEmpty
    }

    private static func minute(of date: Date) -> Int { Int(date.timeIntervalSince1970 / 60) }
}
