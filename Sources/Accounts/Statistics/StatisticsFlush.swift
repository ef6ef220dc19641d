/// Adds what was counted in memory to the database.
package struct StatisticsFlush: Sendable {
    let statistics: Statistics
    let store: any StatisticsStore

    package init(_ statistics: Statistics, to store: any StatisticsStore) {
        (self.statistics, self.store) = (statistics, store)
    }

    /// Stores each application's counts; those that cannot be stored are kept for the next call.
    /// - Throws: the first error, once every application was tried.
    package func run() async throws {
        var failure: (any Error)?
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
}
