internal import ServiceLifecycle

/// Does something over and over until the server ends, whatever becomes of it.
struct RepeatedService: Service {
    /// On average, between one time and the next.
    let interval: Duration
    let failure: FailureLog
    let body: @Sendable () async throws -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Replicas that were started together need not do it together.
            while (try? await Task.sleep(for: interval * Double.random(in: 0.5...1.5))) != nil {
                await failure.watch(body)
            }
        }
    }
}
