internal import Logging
internal import Synchronization

/// Something that is done over and over, told of when it stops working and when it works again.
final class FailureLog: Sendable {
    private let what: Logger.Message
    private let logger: Logger
    private let isThere = Mutex(false)

    /// `what` is the sentence that somebody reads who has to do something about it.
    init(_ what: Logger.Message, logger: Logger) {
        self.what = what
        self.logger = logger
    }

    /// - Returns: `nil` where it failed.
    @discardableResult
    func watch<Result>(_ body: () async throws -> Result) async -> Result? {
        do {
            let result = try await body()
            if replace(with: false) { logger.notice("It works again", metadata: ["failure": "\(what)"]) }
            return result
        } catch {
            guard !Task.isCancelled, !replace(with: true) else { return nil }
            logger.warning(what, metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func replace(with isThere: Bool) -> Bool {
        self.isThere.withLock { state in
            defer { state = isThere }
            return state
        }
    }
}
