internal import OpenID
internal import ServiceLifecycle

/// Ends the calls that wait for other devices when the server shuts down, which would otherwise wait for them.
struct HandoffShutdown: Service {
    let waiters: HandoffWaiters

    func run() async throws {
        try? await gracefulShutdown()
        waiters.close()
    }
}
