internal import Synchronization

/// Applies the configured rates; exceeded limits are kept in memory, so that further calls need no query.
package final class RateLimiter: LiftableLimits {
    private struct State {
        var policy: RatePolicy
        var refusals = Deadlines<RateKey, ContinuousClock.Instant>(capacity: RateLimiter.knownRefusals)
        /// When the limit of each subject that only this replica counts is fully restored.
        var full = Deadlines<RateKey, ContinuousClock.Instant>(capacity: 50_000)
    }

    /// The most refusals that are kept in memory.
    private static let knownRefusals = 10_000
    /// The rate of a network block, as a multiple of the rate of a client.
    private static let blockFactor = 16

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

    package func replace(policy: RatePolicy) { state.withLock { $0.policy = policy } }

    package func spend(_ limit: RateLimit, of subject: RateSubject, in application: Application) async throws {
        guard let (key, block) = keys(limit, of: subject, in: application) else { return }
        try refuse([key, block])
        guard let refusal = try await counter.take(key, in: block) else { return }
        // The wait begins at the response, since the client's wait begins there too.
        let answered = now()
        state.withLock { $0.refusals.note(refusal.key, until: answered + refusal.wait, now: answered) }
        throw AccountsError.rateLimited(retryAfter: refusal.wait)
    }

    package func check(_ limit: RateLimit, of subject: RateSubject, in application: Application) throws {
        guard let (key, block) = keys(limit, of: subject, in: application) else { return }
        try refuse([key, block])
    }

    /// Refuses a call if one of the keys is known to have no calls left.
    private func refuse(_ keys: [RateKey?]) throws {
        let asked = now()
        let known = state.withLock { state in
            keys.compactMap { $0.flatMap { state.refusals.wait(for: $0, now: asked) } }.max()
        }
        if let known { throw AccountsError.rateLimited(retryAfter: known) }
    }

    /// Runs the generic cell rate algorithm of `RateLimitsTable` in memory.
    package func spendHere(_ limit: RateLimit, of subject: RateSubject, in application: Application) throws {
        guard let (key, block) = keys(limit, of: subject, in: application) else { return }
        let asked = now()
        let wait: Duration? = state.withLock { state in
            let taken = [key, block].compactMap { $0 }.map { key in
                (key: key, full: (state.full.wait(for: key, now: asked) ?? .zero) + key.rate.interval)
            }
            let wait = taken.map { $0.full - $0.key.rate.window }.max() ?? .zero
            guard wait <= .zero else { return wait }
            for (key, full) in taken { state.full.note(key, until: asked + full, now: asked) }
            return nil
        }
        if let wait { throw AccountsError.rateLimited(retryAfter: wait) }
    }

    package func keys(
        of subjects: [(limit: RateLimit, subject: RateSubject)], in application: Application
    ) -> [RateKey] {
        subjects.flatMap { limit, subject in
            keys(limit, of: subject, in: application).map { [$0.key, $0.block].compactMap(\.self) } ?? []
        }
    }

    package func forgetRefusals() {
        state.withLock { $0.refusals = Deadlines(capacity: Self.knownRefusals) }
    }

    private func keys(
        _ limit: RateLimit, of subject: RateSubject, in application: Application
    ) -> (key: RateKey, block: RateKey?)? {
        guard let rate = state.withLock({ $0.policy[limit] }) else { return nil }
        func key(_ name: String, _ rate: Rate, isOfBlock: Bool = false) -> RateKey {
            RateKey(
                application: application.id, limit: limit, rate: rate, subject: opaque.limitKey(of: name),
                isOfBlock: isOfBlock)
        }
        let wider = Rate(rate.count * Self.blockFactor, per: rate.window)
        let names = subject.names()
        return (key(names.subject, rate), names.block.map { key($0, wider, isOfBlock: true) })
    }
}

extension OpaqueTokens {
    /// The pseudonym under which a subject is counted.
    func limitKey(of subject: String) -> [UInt8] { pseudonym(of: subject, purpose: "rate limit") }
}
