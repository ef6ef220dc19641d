package import Foundation
internal import Synchronization

/// The state of one owner's exchanges (requests with their redirects): how many are under way, and which upstreams
/// work.
///
/// An owner is a provider of an application.
final class OwnerRecord: Sendable {
    struct Owner: Sendable, Hashable {
        let application: String
        let provider: String
    }

    /// Permission for one exchange.
    struct Permit: Sendable {
        let upstream: String
        fileprivate let admission: CircuitBreaker.Admission
    }

    /// How an exchange's outcome changed the state of the upstream.
    enum Change {
        case down
        case up
    }

    private struct Upstream {
        var breaker: CircuitBreaker
        var lastUse: ContinuousClock.Instant
    }

    private struct State {
        var underWay = 0
        var upstreams: [String: Upstream] = [:]
        var successes = 0
        var failures = 0
        var lastSuccess: Date?
        var lastSucceeded = true
    }

    /// Records of upstreams are removed after this time without use.
    private static let memory: Duration = .seconds(900)

    let owner: Owner
    private let concurrency: Int
    private let rules: CircuitBreaker.Rules
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    init(
        _ owner: Owner, concurrency: Int, rules: CircuitBreaker.Rules,
        clock: @escaping @Sendable () -> ContinuousClock.Instant, now: @escaping @Sendable () -> Date
    ) {
        self.owner = owner
        self.concurrency = concurrency
        self.rules = rules
        self.clock = clock
        self.now = now
    }

    /// Admits an exchange; the caller must return every permit with `leave`.
    /// - Throws: `OutboundFailure.crowded`, `OutboundFailure.circuitOpen`.
    func enter(_ name: String) throws(OutboundFailure) -> Permit {
        let instant = clock()
        let result: Result<Permit, OutboundFailure> = state.withLock { state in
            guard state.underWay < concurrency else { return .failure(.crowded) }
            state.upstreams = state.upstreams.filter { $0.value.lastUse + Self.memory > instant }
            var upstream = state.upstreams[name] ?? Upstream(breaker: CircuitBreaker(rules), lastUse: instant)
            upstream.lastUse = instant
            let admission = upstream.breaker.admit(at: instant)
            state.upstreams[name] = upstream
            guard let admission else { return .failure(.circuitOpen) }
            state.underWay += 1
            return .success(Permit(upstream: name, admission: admission))
        }
        return try result.get()
    }

    /// Ends an exchange and returns a change of the upstream's state, if there is one.
    ///
    /// `isSuccess` counts in the statistics; `nil` counts neither as success nor as failure.
    func leave(_ permit: Permit, outcome: CircuitBreaker.Outcome, isSuccess: Bool?) -> Change? {
        let instant = clock()
        let change: Change? = state.withLock { state in
            state.underWay -= 1
            guard var upstream = state.upstreams[permit.upstream] else { return nil }
            let wasClosed = upstream.breaker.isClosed
            upstream.breaker.record(outcome, of: permit.admission, at: instant)
            state.upstreams[permit.upstream] = upstream
            return wasClosed == upstream.breaker.isClosed ? nil : wasClosed ? .down : .up
        }
        if let isSuccess { count(isSuccess: isSuccess) }
        return change
    }

    /// Counts a request that was refused before it was sent.
    func countRefusal() { state.withLock { $0.failures += 1 } }

    private func count(isSuccess: Bool) {
        let date = now()
        state.withLock { state in
            state.lastSucceeded = isSuccess
            guard isSuccess else {
                state.failures += 1
                return
            }
            state.successes += 1
            state.lastSuccess = max(date, state.lastSuccess ?? date)
        }
    }

    var statistics: UpstreamStatistics {
        let instant = clock()
        return state.withLock { state in
            let recent = state.upstreams.values.filter { $0.lastUse + Self.memory > instant }
            return UpstreamStatistics(
                application: owner.application, provider: owner.provider,
                isUp: state.lastSucceeded && recent.allSatisfy(\.breaker.isClosed),
                lastSuccess: state.lastSuccess, successes: state.successes, failures: state.failures)
        }
    }
}

/// The state and the counters of one provider's upstreams.
package struct UpstreamStatistics: Sendable, Equatable {
    package let application: String
    package let provider: String
    /// Whether all circuit breakers are closed and the last exchange, if any, got a response.
    package let isUp: Bool
    package let lastSuccess: Date?
    package let successes: Int
    /// The number of failed requests, including those with a status of 500 or above and those refused before they were
    /// sent.
    package let failures: Int
}
