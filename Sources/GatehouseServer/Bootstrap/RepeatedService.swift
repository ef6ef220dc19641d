internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Repeats a piece of work until the server shuts down, even if the work fails.
///
/// The length of each pause is random around `interval`, so that replicas that start together do not run the work at
/// the same time.
struct RepeatedService: Service {
    private let interval: @Sendable () -> Duration
    private let startsWithPause: Bool
    private let failures: WorkLog
    private let body: @Sendable () async throws -> Void

    /// `failure` is logged at the first of several consecutive failures.
    init(
        every interval: @autoclosure @escaping @Sendable () -> Duration, startsWithPause: Bool = true,
        failure: Logger.Message, logger: Logger, _ body: @escaping @Sendable () async throws -> Void
    ) {
        self.interval = interval
        self.startsWithPause = startsWithPause
        failures = WorkLog(failure, logger: logger)
        self.body = body
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            if !startsWithPause { await failures.watch(body) }
            while (try? await Task.sleep(for: interval() * Double.random(in: 0.5...1.5))) != nil {
                await failures.watch(body)
            }
        }
    }
}

/// Logs the first of consecutive failures of repeated work, and the next success.
final class WorkLog: Sendable {
    private let message: Logger.Message
    private let logger: Logger
    private let isFailing = Mutex(false)

    /// `message` is logged at the first of consecutive failures.
    init(_ message: Logger.Message, logger: Logger) {
        self.message = message
        self.logger = logger
    }

    /// Runs the work, and logs if it starts to fail or succeeds again.
    /// - Returns: `nil` if the work failed.
    @discardableResult
    func watch<Output>(_ body: () async throws -> Output) async -> Output? {
        do {
            let result = try await body()
            if replace(with: false) { logger.notice("It works again", metadata: ["failure": "\(message)"]) }
            return result
        } catch {
            guard !Task.isCancelled, !replace(with: true) else { return nil }
            logger.warning(message, metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Stores the state and returns the previous one.
    private func replace(with isFailing: Bool) -> Bool {
        self.isFailing.withLock { state in
            defer { state = isFailing }
            return state
        }
    }
}
