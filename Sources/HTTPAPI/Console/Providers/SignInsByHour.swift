internal import Foundation
internal import ProviderKit

/// The sign-ins of the last 24 hours, as a small plot for the template `sparkline`.
struct SignInsByHour: Sendable, Equatable {
    private static let hours = 24
    /// The sign-ins of each hour; the last one is under way.
    let counts: [Int]
    /// The hour of the day, in UTC, at which the first count begins.
    let firstHour: Int

    /// The points of a series of the admin API, in which hours without sign-ins are absent.
    init(points: JSONValue, now: Date) {
        func hour(_ date: Date) -> Int { Int((date.timeIntervalSince1970 / 3600).rounded(.down)) }
        let first = hour(now) - Self.hours + 1
        var counts = [Int](repeating: 0, count: Self.hours)
        for point in points.array ?? [] {
            guard let date = point[path: "0"].string.flatMap({ Timestamp($0)?.date }),
                counts.indices.contains(hour(date) - first)
            else { continue }
            counts[hour(date) - first] += Int(point[path: "1"].integer ?? 0)
        }
        (self.counts, firstHour) = (counts, first % Self.hours)
    }

    /// The bars in a box of 120 by 24, and the same figures as text.
    func json(named name: String) -> JSONValue {
        let highest = counts.max() ?? 0
        let bars = counts.enumerated().filter { $1 > 0 }.map { index, count -> JSONValue in
            // The lowest bar can still be seen.
            let height = max(1, 22 * count / max(highest, 1))
            return ["x": .string("\(index * 5)"), "y": .string("\(23 - height)"), "height": .string("\(height)")]
        }
        return [
            "id": .string("spark-\(name)"), "bars": .array(bars), "total": .integer(Int64(counts.reduce(0, +))),
            "isOne": .bool(counts.reduce(0, +) == 1), "isEmpty": .bool(highest == 0),
            "since": .string(clock(0)),
            "figures": ["whole": .string(counts.map(String.init).joined(separator: ", "))],
            "rows": .array(
                counts.indices.map { ["hour": .string(clock($0)), "count": .integer(Int64(counts[$0]))] }),
        ]
    }

    /// The time of day, in UTC, at which an hour of the plot begins.
    private func clock(_ index: Int) -> String {
        let hour = (firstHour + index) % Self.hours
        return "\(hour < 10 ? "0" : "")\(hour):00"
    }
}
