internal import Passwords
internal import ServiceLifecycle

/// Learns how fast this machine hashes, once the server answers: it would only start later otherwise.
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
        // A service that returned would end the others.
        try? await gracefulShutdown()
    }
}
