internal import Logging
internal import Synchronization

/// Whether a worker's queue answers, told when that changes and not at every tick.
final class QueueOutage: Sendable {
    private let queue: String
    private let logger: Logger
    private let isBroken = Mutex(false)

    init(of queue: String, logger: Logger) {
        self.queue = queue
        self.logger = logger
    }

    /// What the queue gave; nothing where it does not answer.
    func watch<Work>(_ take: () async throws -> [Work]) async -> [Work] {
        do {
            let work = try await take()
            note(isBroken: false)
            return work
        } catch {
            note(isBroken: true)
            return []
        }
    }

    private func note(isBroken: Bool) {
        let wasBroken = self.isBroken.withLock { state in
            defer { state = isBroken }
            return state
        }
        guard wasBroken != isBroken, !Task.isCancelled else { return }
        if isBroken {
            logger.error("A queue does not answer", metadata: ["queue": "\(queue)"])
        } else {
            logger.notice("A queue answers again", metadata: ["queue": "\(queue)"])
        }
    }
}
