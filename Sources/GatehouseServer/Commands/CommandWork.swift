internal import ServiceLifecycle
internal import Synchronization

/// Runs the work of a command as a service beside the queue workers.
///
/// When the work ends, the workers finish their current deliveries.
final class CommandWork: Service {
    private let body: @Sendable () async throws -> Void
    private let outcome = Mutex<Result<Void, any Error>>(.failure(ServerError.interrupted))

    init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

    /// Runs the body and cancels it on a shutdown signal.
    func run() async {
        let result: Result<Void, any Error> = await cancelWhenGracefulShutdown {
            do {
                return .success(try await self.body())
            } catch {
                return .failure(Task.isCancelled ? ServerError.interrupted : error)
            }
        }
        outcome.withLock { $0 = result }
    }

    /// - Throws: The body's error, or `ServerError.interrupted` if a signal ended it.
    func result() throws { try outcome.withLock { $0 }.get() }
}
