internal import Accounts
internal import Logging
internal import Synchronization

/// Logs the first request refused because of overload at once, then at most one line every ten seconds.
///
/// Writing a line for each refused request would cost more than refusing it.
final class OverloadLog: Sendable {
    private struct State {
        var unlogged = 0
        var quietUntil: ContinuousClock.Instant?
    }

    private static let interval: Duration = .seconds(10)

    private let state = Mutex(State())
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
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
            state.quietUntil = now + Self.interval
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
