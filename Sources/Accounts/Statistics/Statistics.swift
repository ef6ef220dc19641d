internal import Synchronization

/// Counts in memory what happens, until `StatisticsFlush` adds the counts to the database.
///
/// Counting costs a lock and an increment, so that it can stand in the path of a request.
package final class Statistics: Sendable {
    /// The most labels of one number of one application.
    package static let labels = 200
    /// The label that is counted instead of any further one.
    package static let otherLabel = "other"

    package struct Key: Hashable, Sendable {
        package let statistic: Statistic
        package let label: String

        package init(_ statistic: Statistic, label: String) { (self.statistic, self.label) = (statistic, label) }
    }

    fileprivate struct Counts {
        /// What was counted since the counts were last taken.
        var pending: [Key: Int] = [:]
        var known: [Statistic: Set<String>] = [:]
    }

    private let counts = Mutex<[Application.ID: Counts]>([:])

    package init() {}

    /// Labels come from a fixed set, such as configured names; the bound is for what was overlooked.
    package func count(
        _ statistic: Statistic, label: String = "", by number: Int = 1, in application: Application.ID
    ) {
        counts.withLock { counts in
            let label = counts[application, default: Counts()].admitted(label, of: statistic)
            counts[application, default: Counts()].add(number, to: Key(statistic, label: label))
        }
    }

    /// What was counted and is not in the database yet.
    package func pending(in application: Application.ID) -> [Key: Int] {
        counts.withLock { $0[application]?.pending ?? [:] }
    }

    /// Returns what was counted since the last call, and begins at zero.
    package func take() -> [Application.ID: [Key: Int]] {
        counts.withLock { counts in
            let taken = counts.mapValues(\.pending).filter { !$0.value.isEmpty }
            for application in taken.keys { counts[application]?.pending = [:] }
            return taken
        }
    }

    /// Adds counts that were taken but could not be stored.
    package func giveBack(_ taken: [Key: Int], of application: Application.ID) {
        counts.withLock { counts in
            for (key, number) in taken { counts[application, default: Counts()].add(number, to: key) }
        }
    }
}

extension Statistics.Counts {
    fileprivate mutating func admitted(_ label: String, of statistic: Statistic) -> String {
        let known = known[statistic]?.count ?? 0
        if self.known[statistic]?.contains(label) == true { return label }
        // One place is kept for the label of all others.
        guard known < Statistics.labels - 1 else { return Statistics.otherLabel }
        self.known[statistic, default: []].insert(label)
        return label
    }

    fileprivate mutating func add(_ number: Int, to key: Statistics.Key) {
        let (sum, overflows) = pending[key, default: 0].addingReportingOverflow(number)
        pending[key] = overflows ? .max : sum
    }
}
