internal import Logging
internal import Synchronization

/// Logs the first of consecutive failures of repeated work, and the next success.
final class FailureLog: Sendable {
    private let message: Logger.Message
    private let logger: Logger
    private let isFailing = Mutex(false)

    /// `message` is logged at the first of consecutive failures.
    init(_ message: Logger.Message, logger: Logger) {
        self.message = message
        self.logger = logger
    }

    /// Runs the work, and logs if it starts to fail or succeeds again.
    ///
    /// - Returns: `nil` if the work failed.
    @discardableResult
    func watch<Result>(_ body: () async throws -> Result) async -> Result? {
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
