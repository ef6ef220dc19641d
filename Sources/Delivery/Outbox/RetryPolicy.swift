/// When to try a failed message again: exponential back-off with full jitter, so that what failed together does not
/// come back together.
package struct RetryPolicy: Sendable {
    /// The delay after the first failure is random up to this; each further failure doubles it.
    package var firstLimit: Duration = .seconds(30)
    package var lastLimit: Duration = .seconds(3600)
    /// While nothing is configured; short, because what waits is not to wait long once something is.
    package var lastLimitUnconfigured: Duration = .seconds(300)
    /// No delay is shorter, whatever the dice say.
    package var shortest: Duration = .seconds(1)
    /// The first failure at this age or later is the last.
    package var giveUpAge: Duration = .seconds(24 * 3600)

    package init() {}

    /// When to try again, or `nil` to give up: at once where that cannot help, at `giveUpAge` otherwise.
    ///
    /// A message that only lacks a configured transport is never given up. `attempts` counts those before this failure,
    /// `age` is the message's, `fraction` is random, in 0..<1.
    package func delay(after error: DeliveryError, attempts: Int, age: Duration, fraction: Double) -> Duration? {
        let isUnconfigured = error == .notConfigured
        guard !error.isPermanent, isUnconfigured || age < giveUpAge else { return nil }
        let doubled = firstLimit * (1 << min(max(0, attempts), 20))
        return max(shortest, min(doubled, isUnconfigured ? lastLimitUnconfigured : lastLimit) * fraction)
    }
}
