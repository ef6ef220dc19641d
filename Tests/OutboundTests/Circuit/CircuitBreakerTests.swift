import Testing

@testable import Outbound

struct CircuitBreakerTests {
    /// An event, with the second at which it occurs.
    enum Step: Sendable {
        case succeed(at: Int)
        case fail(at: Int)
        /// An exchange that ends without a result, such as by cancellation.
        case vanish(at: Int)
        case refused(at: Int)
    }

    @Test(
        arguments: [
            [.fail(at: 0), .fail(at: 0), .fail(at: 0), .fail(at: 0), .succeed(at: 1)],
            // A success in between keeps the circuit closed.
            [.fail(at: 0), .fail(at: 0), .fail(at: 0), .fail(at: 0), .succeed(at: 0)]
                + [.fail(at: 1), .fail(at: 1), .fail(at: 1), .fail(at: 1), .succeed(at: 1)],
            // A neutral result is no failure and does not interrupt a series of failures.
            opened + [.refused(at: 0), .refused(at: 4), .succeed(at: 5), .succeed(at: 5)],
            [.fail(at: 0), .fail(at: 0), .vanish(at: 0), .fail(at: 0), .fail(at: 0), .fail(at: 0), .refused(at: 1)],
            // The delay doubles up to a minute. After a success it starts at five seconds again.
            opened + [.fail(at: 5), .refused(at: 14), .fail(at: 15), .refused(at: 34), .fail(at: 35), .refused(at: 74)]
                + [.fail(at: 75), .refused(at: 134), .fail(at: 135), .refused(at: 194), .succeed(at: 195)]
                + [.fail(at: 195), .fail(at: 195), .fail(at: 195), .fail(at: 195), .fail(at: 195)]
                + [.refused(at: 199), .succeed(at: 200)],
            // A probe that ends without a result makes room for the next probe.
            opened + [.vanish(at: 5), .succeed(at: 5), .succeed(at: 5)],
        ] as [[Step]])
    func goesThroughItsPhases(_ steps: [Step]) throws {
        var breaker = CircuitBreaker(.init(firstDelay: .seconds(5), longestDelay: .seconds(60)))
        let start = ContinuousClock.now
        for step in steps {
            switch step {
            case .succeed(let second): try run(&breaker, .answered, at: start + .seconds(second))
            case .fail(let second): try run(&breaker, .failed, at: start + .seconds(second))
            case .vanish(let second): try run(&breaker, .unknown, at: start + .seconds(second))
            case .refused(let second): #expect(refuses(breaker, at: start + .seconds(second)), "at \(second) s")
            }
        }
    }

    private static let opened: [Step] = Array(repeating: .fail(at: 0), count: 5)

    private func run(
        _ breaker: inout CircuitBreaker, _ outcome: CircuitBreaker.Outcome, at now: ContinuousClock.Instant
    ) throws {
        let admission = try admit(&breaker, at: now)
        breaker.record(outcome, of: admission, at: now)
    }

    private func admit(
        _ breaker: inout CircuitBreaker, at now: ContinuousClock.Instant
    ) throws -> CircuitBreaker.Admission {
        let admission = breaker.admit(at: now)
        return try #require(admission)
    }

    /// Returns whether the breaker refuses an exchange.
    ///
    /// The check works on a copy.
    private func refuses(_ breaker: CircuitBreaker, at now: ContinuousClock.Instant) -> Bool {
        var breaker = breaker
        return breaker.admit(at: now) == nil
    }

    @Test func letsOneProbeThroughAtATime() throws {
        var breaker = CircuitBreaker(.init(threshold: 1))
        let start = ContinuousClock.now
        try run(&breaker, .failed, at: start)
        let probe = try admit(&breaker, at: start + .seconds(5))
        #expect(refuses(breaker, at: start + .seconds(5)))
        #expect(refuses(breaker, at: start + .seconds(500)))
        breaker.record(.answered, of: probe, at: start + .seconds(500))
        #expect(breaker.isClosed)
    }

    @Test func outcomesOfAnEarlierEraDontCount() throws {
        var breaker = CircuitBreaker(.init(threshold: 1))
        let start = ContinuousClock.now
        let early = try admit(&breaker, at: start)
        let slow = try admit(&breaker, at: start)
        try run(&breaker, .failed, at: start)
        breaker.record(.answered, of: early, at: start)
        #expect(!breaker.isClosed)
        let probe = try admit(&breaker, at: start + .seconds(5))
        breaker.record(.failed, of: slow, at: start + .seconds(6))
        #expect(breaker.phase == .probing)
        breaker.record(.answered, of: probe, at: start + .seconds(6))
        #expect(breaker.isClosed)
    }
}
