package import Accounts
package import Foundation
package import ProviderKit

/// The state of a provider's service, with the events of the last 24 hours.
package struct ProviderReport: Sendable, Equatable {
    /// A problem with the service, and how often it was noted.
    package struct Finding: Sendable, Equatable {
        package let finding: ProviderFinding
        package let count: Int
        package let lastSeen: Date

        package init(_ finding: ProviderFinding, count: Int, lastSeen: Date) {
            (self.finding, self.count, self.lastSeen) = (finding, count, lastSeen)
        }
    }

    package enum State: String, Sendable, CaseIterable {
        /// The last request to the service got a response.
        case up
        case down
        /// This server has not called the service yet.
        case unknown
    }

    package var state = State.unknown
    package var lastSuccess: Date?
    /// The last one first.
    package var findings: [Finding] = []
    package var signIns = 0
    package var signUps = 0
    /// How many findings there were, all counted.
    package var failures = 0

    package init() {}
}

/// Whether the services behind providers answer this process.
package protocol UpstreamStates: Sendable {
    func state(of owner: FindingLog.Owner) -> (isUp: Bool, lastSuccess: Date?)?
}

/// Reports how the providers of an application fare.
package struct ProviderHealth: Sendable {
    package static let window: Duration = .seconds(86_400)

    let store: any BoundedTransactions & StatisticsStore
    let statistics: Statistics
    let findings: FindingLog
    let states: any UpstreamStates

    package init(
        store: any BoundedTransactions & StatisticsStore, statistics: Statistics, findings: FindingLog,
        states: any UpstreamStates
    ) {
        (self.store, self.statistics, self.findings, self.states) = (store, statistics, findings, states)
    }

    /// Returns a report for each configured provider by its name.
    ///
    /// Counts are those of all replicas; what others have counted in the last ten seconds may be missing. The state, and
    /// times within the minute, are those of this replica.
    package func reports(of application: Application) async throws -> [String: ProviderReport] {
        let counts = try await counts(of: application)
        return Dictionary(
            application.providers.all.map { provider in
                let owner = FindingLog.Owner(application: application.name, provider: provider.name)
                return (provider.name, report(of: owner, by: counts))
            }
        ) { first, _ in first }
    }

    private func counts(of application: Application) async throws -> [Statistics.Key: RecentCount] {
        var counts = try await store.transaction(within: .administration) { store in
            var counts: [Statistics.Key: RecentCount] = [:]
            for statistic in [Statistic.signIns, .signUps, .providerFailures] {
                let stored = try await store.recentCounts(
                    of: statistic, within: Self.window, application: application.id)
                for (label, count) in stored { counts[.init(statistic, label: label)] = count }
            }
            return counts
        }
        for (key, number) in statistics.pending(in: application.id) {
            counts[key, default: RecentCount(count: 0, last: .distantPast)].count += number
        }
        return counts
    }

    private func report(
        of owner: FindingLog.Owner, by counts: [Statistics.Key: RecentCount]
    ) -> ProviderReport {
        var report = ProviderReport()
        if let state = states.state(of: owner) {
            report.state = state.isUp ? .up : .down
            report.lastSuccess = state.lastSuccess
        }
        let (lastSeen, pending) = (findings.lastSeen(of: owner), findings.pending(of: owner))
        report.findings = ProviderFinding.allCases.compactMap { finding in
            let label = Statistic.label(owner.provider, finding.rawValue)
            let stored = counts[.init(.providerFailures, label: label)]
            let count = (stored?.count ?? 0) + (pending[finding] ?? 0)
            guard count > 0 else { return nil }
            let last = max(stored?.last ?? .distantPast, lastSeen[finding] ?? .distantPast)
            return ProviderReport.Finding(finding, count: count, lastSeen: last)
        }.sorted { $0.lastSeen > $1.lastSeen }
        report.signIns = counts[.init(.signIns, label: owner.provider)]?.count ?? 0
        report.signUps = counts[.init(.signUps, label: owner.provider)]?.count ?? 0
        report.failures = report.findings.reduce(0) { $0 + $1.count }
        return report
    }
}
