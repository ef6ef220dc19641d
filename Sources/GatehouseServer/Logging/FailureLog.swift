internal import Logging
internal import Synchronization

/// Logs when repeated work begins to fail, and when it succeeds again.
final class FailureLog: Sendable {
    private let message: Logger.Message
    private let logger: Logger
    private let isFailing = Mutex(false)

    /// The message is logged when the work begins to fail.
    init(_ message: Logger.Message, logger: Logger) {
        self.message = message
        self.logger = logger
    }

    /// Runs the work and logs its failure.
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

    /// Returns the previous state.
    private func replace(with isFailing: Bool) -> Bool {
        self.isFailing.withLock { state in
            defer { state = isFailing }
            return state
        }
    }
}
