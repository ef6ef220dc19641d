package import Foundation

/// Stores what the server counts, by minutes for 48 hours and by hours for 400 days.
package protocol StatisticsStore: Sendable {
    /// Adds the counts to the present minute and hour, in one statement.
    func add(_ counts: [Statistics.Key: Int], application: Application.ID) async throws

    /// Reads one number, the labels with the highest sums first, and at most `limit` points.
    ///
    /// A label whose points do not all fit into the limit is left out.
    func series(
        of statistic: Statistic, label: String?, in period: StatisticsPeriod, limit: Int, application: Application.ID
    ) async throws -> [StatisticsSeries]

    /// The sums by label of what was counted until now, from `window` ago, which is at most 48 hours.
    func recentCounts(
        of statistic: Statistic, within window: Duration, application: Application.ID
    ) async throws -> [String: RecentCount]
}

/// What was counted under one label lately.
package struct RecentCount: Sendable, Equatable {
    package var count: Int
    /// The beginning of the last minute in which something was counted.
    package var last: Date

    package init(count: Int, last: Date) { (self.count, self.last) = (count, last) }
}

/// The times that a reader of statistics asks for.
package struct StatisticsPeriod: Sendable, Equatable {
    package enum Step: String, Sendable, CaseIterable {
        case minute, hour, day

        package var duration: Duration {
            switch self {
            case .minute: .seconds(60)
            case .hour: .seconds(3600)
            case .day: .seconds(86_400)
            }
        }
    }

    /// `end` is not part of the period.
    package let start, end: Date
    package let step: Step

    /// The period begins with the step that `start` falls into; steps are counted from 1970, in UTC.
    package init(from start: Date, to end: Date, by step: Step) {
        let seconds = step.duration / .seconds(1)
        self.start = Date(timeIntervalSince1970: (start.timeIntervalSince1970 / seconds).rounded(.down) * seconds)
        (self.end, self.step) = (end, step)
    }
}

/// What was counted under one label.
package struct StatisticsSeries: Sendable, Equatable {
    package struct Point: Sendable, Equatable {
        /// The beginning of the step.
        package let time: Date
        package let count: Int

        package init(time: Date, count: Int) { (self.time, self.count) = (time, count) }
    }

    package let label: String
    /// Steps in which nothing was counted are left out.
    package var points: [Point]

    package init(label: String, points: [Point]) { (self.label, self.points) = (label, points) }
}
