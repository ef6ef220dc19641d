/// Computes when to repeat a failed attempt: exponential back-off with full jitter, so that entries that failed
/// together are not retried together.
package struct RetryPolicy: Sendable {
    /// The limit of the random delay after the first failure; each further failure doubles the limit.
    package var firstLimit: Duration = .seconds(30)
    package var lastLimit: Duration = .seconds(3600)
    /// The largest limit for entries that lack configuration; it is short, so that they are sent soon after it is
    /// added.
    package var lastLimitUnconfigured: Duration = .seconds(300)
    /// The minimum delay.
    package var shortest: Duration = .seconds(1)
    /// An entry that fails at this age or later is given up.
    package var giveUpAge: Duration = .seconds(24 * 3600)
    /// The same for an unknown provider, which may be one that only another replica has loaded so far.
    package var giveUpAgeOfUnknownProvider: Duration = .seconds(300)

    package init() {}

    /// The policy for webhooks, which retries for longer than the 72 hours that an erasure waits for acknowledgements.
    package static var webhooks: RetryPolicy {
        var policy = RetryPolicy()
        policy.firstLimit = .seconds(5)
        policy.giveUpAge = .seconds(96 * 3600)
        return policy
    }

    /// Returns the delay before the next attempt, or `nil` to give up.
    ///
    /// Entries with permanent errors are given up at once, others at `giveUpAge`; an entry that only lacks
    /// configuration is never given up. `attempts` is the number of attempts before this failure, `age` is the entry's
    /// age, and `fraction` is random, in 0..<1.
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
