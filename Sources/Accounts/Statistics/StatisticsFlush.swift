internal import ProviderKit

/// Adds what was counted in memory to the database.
package struct StatisticsFlush: Sendable {
    let statistics: Statistics
    let store: any StatisticsStore
    let findings: FindingLog
    /// The number of an application by its name; `nil` if it is not configured any more.
    let application: @Sendable (String) -> Application.ID?

    package init(
        _ statistics: Statistics, to store: any StatisticsStore, findings: FindingLog = FindingLog(),
        application: @escaping @Sendable (String) -> Application.ID? = { _ in nil }
    ) {
        (self.statistics, self.store) = (statistics, store)
        (self.findings, self.application) = (findings, application)
    }

    /// Stores each application's counts; those that cannot be stored are kept for the next call.
    /// - Throws: the first error, once every application was tried.
    package func run() async throws {
        var failure: (any Error)?
        countFindings()
        for (application, counts) in statistics.take() {
            do {
                try await store.add(counts, application: application)
            } catch {
                statistics.giveBack(counts, of: application)
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Moves what providers have noted to the other counts.
    private func countFindings() {
        for noted in findings.take() {
            guard let application = application(noted.owner.application) else { continue }
            let label = Statistic.label(noted.owner.provider, noted.finding.rawValue)
            statistics.count(.providerFailures, label: label, by: noted.count, in: application)
        }
    }
}
