internal import Logging
internal import ServiceLifecycle
internal import Storage

/// Removes expired rows from time to time.
struct SweepingService: Service {
    let rows: ExpiredRows
    let logger: Logger

    private static let interval: Duration = .seconds(60)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Replicas that were started together need not sweep together.
            while (try? await Task.sleep(for: Self.interval * Double.random(in: 0.5...1.5))) != nil {
                do {
                    _ = try await rows.remove()
                } catch {
                    logger.debug("expired rows stay for now", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}
