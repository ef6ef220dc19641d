/// A number of calls in a window: `count` calls are allowed at once, and one is restored after each `interval`.
package struct Rate: Sendable, Hashable {
    package let count: Int
    package let window: Duration

    package init(_ count: Int, per window: Duration) { (self.count, self.window) = (count, window) }

    /// The time until one call is restored, in whole microseconds, the precision of the database.
    package var interval: Duration { .microseconds((window / .microseconds(count)).rounded(.down)) }
}
