/// Limits on the number of text messages, against toll fraud.
///
/// Shared by all replicas and applications. Windows begin at multiples of their length since 1970, so that up to twice
/// as many may be sent around a window's end.
package struct TextBudget: Sendable, Equatable {
    package struct Limit: Sendable, Equatable {
        package let count: Int
        package let window: Duration

        package init(_ count: Int, per window: Duration) {
            self.count = count
            self.window = window
        }
    }

    /// All messages together.
    package let total: Limit?
    /// Messages to numbers with the same country code and next three digits.
    package let perRange: Limit?

    package init(total: Limit?, perRange: Limit?) {
        self.total = total
        self.perRange = perRange
    }
}
