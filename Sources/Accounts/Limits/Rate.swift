/// A number of calls in a window of time.
///
/// As a limit, it allows that many calls at once and restores them evenly, one after each interval.
package struct Rate: Sendable, Hashable {
    package let count: Int
    package let window: Duration

    package init(_ count: Int, per window: Duration) {
        self.count = count
        self.window = window
    }

    /// The time until one call is restored, in whole microseconds, which is the database's precision.
    package var interval: Duration {
        .microseconds((window / .microseconds(count)).rounded(.down))
    }
}
