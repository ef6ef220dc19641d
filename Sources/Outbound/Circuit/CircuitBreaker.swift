/// Stops requests to an upstream that keeps failing, and after a delay sends one request at a time as a probe.
struct CircuitBreaker: Sendable {
    typealias Instant = ContinuousClock.Instant

    struct Rules: Sendable {
        /// The number of consecutive failures that open the circuit.
        var threshold = 5
        var firstDelay: Duration = .seconds(2)
        /// The longest delay before a probe; each failed probe doubles the delay up to this limit.
        var longestDelay: Duration = .seconds(30)
    }

    enum Phase: Sendable, Equatable {
        case closed(failures: Int)
        case open(until: Instant)
        /// One exchange is under way to test whether the upstream works again.
        case probing
    }

    /// The result of an exchange, as evidence about the upstream.
    enum Outcome: Sendable {
        case answered
        case failed
        /// The request was not sent or was cancelled, so the exchange is no evidence.
        case unknown
    }

    /// Permission for one exchange, to be passed to `record` with the outcome.
    struct Admission: Sendable { fileprivate let era: Int }

    private let rules: Rules
    private(set) var phase = Phase.closed(failures: 0)
    private var delay: Duration
    /// The number of phase changes; outcomes of exchanges that began before the last one are ignored.
    private var era = 0

    init(_ rules: Rules = Rules()) {
        self.rules = rules
        delay = rules.firstDelay
    }

    var isClosed: Bool {
        if case .closed = phase { true } else { false }
    }

    mutating func admit(at now: Instant) -> Admission? {
        switch phase {
        case .closed: break
        case .open(let until) where until <= now: enter(.probing)
        case .open, .probing: return nil
        }
        return Admission(era: era)
    }

    mutating func record(_ outcome: Outcome, of admission: Admission, at now: Instant) {
        guard admission.era == era else { return }
        switch (phase, outcome) {
        case (.closed, .answered): phase = .closed(failures: 0)
        case (.closed(let failures), .failed) where failures + 1 < rules.threshold:
            phase = .closed(failures: failures + 1)
        case (.closed, .failed):
            delay = rules.firstDelay
            enter(.open(until: now + delay))
        case (.probing, .answered): enter(.closed(failures: 0))
        case (.probing, .failed):
            delay = min(delay * 2, rules.longestDelay)
            enter(.open(until: now + delay))
        case (.probing, .unknown):
            // The next exchange becomes the probe.
            enter(.open(until: now))
        case (.closed, .unknown), (.open, _): break
        }
    }

    private mutating func enter(_ phase: Phase) {
        self.phase = phase
        era += 1
    }
}
