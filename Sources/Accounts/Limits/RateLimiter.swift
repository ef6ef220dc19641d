internal import Synchronization

/// The rates in force, counted for all replicas at once; whoever this replica knows to be over a limit is refused
/// without asking.
package final class RateLimiter: RateLimiting {
    private struct State {
        var policy: RatePolicy
        var refusals = RecentRefusals<RateKey, ContinuousClock.Instant>(capacity: 10_000)
    }

    private let counter: any RateCounter
    private let opaque: any OpaqueTokens
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    package init(
        policy: RatePolicy, counter: any RateCounter, opaque: any OpaqueTokens,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.counter = counter
        self.opaque = opaque
        self.now = now
        state = Mutex(State(policy: policy))
    }

    /// For what is asked from now on.
    package func replace(policy: RatePolicy) {
        state.withLock { $0.policy = policy }
    }

    package func spend(_ limit: RateLimit, of subject: String, in application: Application) async throws {
        guard let rate = state.withLock({ $0.policy[limit] }) else { return }
        let key = RateKey(
            application: application.id, limit: limit, rate: rate,
            subject: opaque.limitKey(of: subject))
        let asked = now()
        if let wait = state.withLock({ $0.refusals.wait(for: key, now: asked) }) {
            throw AccountsError.rateLimited(retryAfter: wait)
        }
        guard let wait = try await counter.take(key) else { return }
        // From the answer on, as the client counts: by then the database has one.
        let answered = now()
        state.withLock { $0.refusals.note(key, until: answered + wait, now: answered) }
        throw AccountsError.rateLimited(retryAfter: wait)
    }
}

extension OpaqueTokens {
    /// What a subject is counted under.
    func limitKey(of subject: String) -> [UInt8] {
        pseudonym(of: subject, purpose: "rate limit")
    }
}
