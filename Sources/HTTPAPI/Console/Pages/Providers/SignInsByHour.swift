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
        let start = ConsolePlot.start(ofHours: Self.hours, until: now)
        counts = ConsolePlot.counts(points, hours: Self.hours, from: start)
        firstHour = Int(start.timeIntervalSince1970 / 3600) % Self.hours
    }

    /// The bars in a box of 120 by 24, and the same figures as text.
    func json(named name: String) -> JSONValue {
        let highest = counts.max() ?? 0
        let total = counts.reduce(0, ConsolePlot.sum)
        let bars = counts.enumerated().filter { $1 > 0 }.map { index, count -> JSONValue in
            // The lowest bar can still be seen.
            let height = max(1, Int(22 * Double(count) / Double(highest)))
            return ["x": .string("\(index * 5)"), "y": .string("\(23 - height)"), "height": .string("\(height)")]
        }
        return [
            "id": .string("spark-\(name)"), "bars": .array(bars), "total": .integer(Int64(total)),
            "isOne": .bool(total == 1), "isEmpty": .bool(highest == 0),
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
