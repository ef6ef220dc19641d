/// So many in a window of that length.
///
/// As a limit, that many may come at once; they are given back evenly, one after each interval.
package struct Rate: Sendable, Hashable {
    package let count: Int
    package let window: Duration

    package init(_ count: Int, per window: Duration) {
        self.count = count
        self.window = window
    }

    /// After which one is given back; cut off to whole microseconds, the database's finest.
    package var interval: Duration {
        .microseconds((window / .microseconds(count)).rounded(.down))
    }
}
