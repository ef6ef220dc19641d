internal import Accounts
internal import Logging
internal import Synchronization

/// Logs the first refused request at once, then at most one line in each interval.
///
/// Writing a line for each refused request would cost more than refusing it.
final class RefusalLog: Sendable {
    private struct State {
        var unlogged = 0
        var quietUntil: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let interval: Duration
    private let now: @Sendable () -> ContinuousClock.Instant

    init(every interval: Duration = .seconds(10), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.interval = interval
        self.now = now
    }

    func note(_ error: any Error, in logger: Logger) {
        guard let refused = due() else { return }
        logger.warning("Requests not served", metadata: ["error": "\(error)", "requests": "\(refused)"])
    }

    /// Counts a refusal.
    /// - Returns: the number of refusals since the last line, or `nil` if it is too early for another line.
    func due() -> Int? {
        let now = now()
        return state.withLock { state in
            state.unlogged += 1
            if let end = state.quietUntil, now < end { return nil }
            defer { state.unlogged = 0 }
            state.quietUntil = now + interval
            return state.unlogged
        }
    }
}

extension Error {
    /// Whether the server was overloaded or the client has disconnected; `/metrics` counts these requests.
    var isOverload: Bool {
        if self is CancellationError { return true }
        guard case AccountsError.overloaded? = self as? AccountsError else { return false }
        return true
    }
}
