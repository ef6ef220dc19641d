internal import Passwords
internal import ServiceLifecycle

/// Measures how fast this machine hashes once the server is ready, so that it does not delay the start.
struct CalibrationService: Service {
    let hasher: PasswordHasher
    /// Ends when the server is ready.
    let readiness: AsyncStream<Void>

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in readiness {}
            guard !Task.isCancelled else { return }
            await hasher.calibrate()
        }
        // If a service returns, the service group stops the others.
        try? await gracefulShutdown()
    }
}
