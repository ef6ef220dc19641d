/// When to repeat a failed attempt: exponential back-off with full jitter, so that entries that failed together do not
/// come back together.
package struct RetryPolicy: Sendable {
    /// The delay after the first failure is random up to this; each further failure doubles the limit.
    package var firstLimit: Duration = .seconds(30)
    package var lastLimit: Duration = .seconds(3600)
    /// The last limit while nothing is configured: short, so that entries do not wait long once something is.
    package var lastLimitUnconfigured: Duration = .seconds(300)
    /// The shortest delay, whatever the jitter.
    package var shortest: Duration = .seconds(1)
    /// An entry that fails at this age or later is given up.
    package var giveUpAge: Duration = .seconds(24 * 3600)
    /// The same for an unknown provider, which another replica may have read of already.
    package var giveUpAgeOfUnknownProvider: Duration = .seconds(300)

    package init() {}

    /// For queues that an erasure waits for: it waits 72 hours, so that retries go on for longer.
    package static var webhooks: RetryPolicy {
        var policy = RetryPolicy()
        policy.firstLimit = .seconds(5)
        policy.giveUpAge = .seconds(96 * 3600)
        return policy
    }

    /// Returns when to try again, or `nil` to give up.
    ///
    /// Permanent errors are given up at once, others at `giveUpAge`; an entry that only lacks configuration never is.
    /// `attempts` came before this failure, `age` is that of the entry, and `fraction` is random, in 0..<1.
    package func delay(after error: DeliveryError, attempts: Int, age: Duration, fraction: Double) -> Duration? {
        guard !error.isPermanent else { return nil }
        let (limit, giveUpAge): (Duration, Duration?) =
            switch error {
            case .notConfigured: (lastLimitUnconfigured, nil)
            case .unknownProvider: (lastLimitUnconfigured, giveUpAgeOfUnknownProvider)
            default: (lastLimit, giveUpAge)
            }
        if let giveUpAge, age >= giveUpAge { return nil }
        let doubled = firstLimit * (1 << min(max(0, attempts), 20))
        return max(shortest, min(doubled, limit) * fraction)
    }
}
