internal import Logging
internal import ServiceLifecycle
internal import Storage

/// Keeps the database's planner informed while tables grow fast.
struct StatisticsService: Service {
    let statistics: PlannerStatistics
    let logger: Logger

    private static let interval: Duration = .seconds(3)

    func run() async throws {
        let trouble = Trouble("The planner's statistics stay as they are for now", logger: logger)
        await cancelWhenGracefulShutdown {
            // Replicas that were started together need not look together.
            while (try? await Task.sleep(for: Self.interval * Double.random(in: 0.5...1.5))) != nil {
                await trouble.watch { try await statistics.refresh() }
            }
        }
    }
}
