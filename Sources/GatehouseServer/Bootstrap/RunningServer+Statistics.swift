internal import Accounts
internal import HTTPAPI
internal import Logging
internal import ServiceLifecycle

extension RunningServer {
    /// Adds to the database what the server has counted in memory.
    var statisticsService: any Service {
        RepeatedService(
            every: .seconds(10), failure: "What was counted is not in the statistics yet", logger: backend.logger
        ) { [statisticsFlush] in try await statisticsFlush.run() }
    }

    /// Stores what was counted since the last time, at the end of the server.
    func endStatistics() async {
        let failures = WorkLog("What was counted lately is missing in the statistics", logger: backend.logger)
        await failures.watch { try await statisticsFlush.run() }
    }

    var statisticsFlush: StatisticsFlush {
        StatisticsFlush(backend.statistics, to: backend.store, findings: ports.findings) { [site] name in
            site.current.applications[name]?.application.id
        }
    }
}
