package import Accounts
internal import Foundation

/// Reads what the server has counted.
package struct StatisticsReading: Sendable {
    /// The most points of one answer, over all labels.
    package static let points = 2000

    let store: any BoundedTransactions & StatisticsStore

    package init(store: any BoundedTransactions & StatisticsStore) { self.store = store }

    /// Returns the labels with the highest sums first; those beyond `points` are left out.
    ///
    /// What the servers have counted in the last ten seconds may be missing.
    /// - Throws: `AccountsError.invalidParameter` if the period is empty or has more steps than `points`.
    package func series(
        of statistic: Statistic, label: String?, in period: StatisticsPeriod, application: Application
    ) async throws -> [StatisticsSeries] {
        guard period.start < period.end else {
            throw AccountsError.invalidParameter("from", reason: "is not before `to`")
        }
        guard period.end.timeIntervalSince(period.start) / (period.step.duration / .seconds(1)) <= Double(Self.points)
        else {
            throw AccountsError.invalidParameter(
                "from", reason: "is more than \(Self.points) steps before `to`; name a longer step")
        }
        return try await store.transaction(within: .administration) { store in
            try await store.series(
                of: statistic, label: label, in: period, limit: Self.points, application: application.id)
        }
    }
}
