internal import ServiceLifecycle
internal import Storage

/// Removes what rate limits no longer need, on every replica: a batch that one has is skipped by the others.
struct RateLimitSweeper: Service {
    let counter: RateLimitsTable

    private static let interval: Duration = .seconds(60)
    private static let batch = 1000

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.interval)) != nil {
                // Without a database there is nothing to remove, and the next time will do.
                try? await sweep()
            }
        }
    }

    func sweep() async throws {
        while try await counter.removeExpired(atMost: Self.batch) == Self.batch {}
    }
}
