internal import Logging
internal import ServiceLifecycle
internal import Storage

/// Removes expired rows from time to time.
struct SweepingService: Service {
    let rows: ExpiredRows
    let logger: Logger

    private static let interval: Duration = .seconds(60)

    func run() async throws {
        let trouble = Trouble("Expired rows stay for now", logger: logger)
        await cancelWhenGracefulShutdown {
            // Replicas that were started together need not sweep together.
            while (try? await Task.sleep(for: Self.interval * Double.random(in: 0.5...1.5))) != nil {
                await trouble.watch { try await rows.remove() }
            }
        }
    }
}
