/// Limits on the number of text messages, against toll fraud.
///
/// All replicas and applications share the budget. Windows begin at multiples of their length since 1970, so that up
/// to twice the count may be sent around the boundary of two windows.
package struct TextBudget: Sendable, Equatable {
    package struct Limit: Sendable, Equatable {
        package let count: Int
        package let window: Duration

        package init(_ count: Int, per window: Duration) {
            self.count = count
            self.window = window
        }
    }

    /// The limit for all messages together.
    package let total: Limit?
    /// The limit for messages to numbers with the same country code and next three digits.
    package let perRange: Limit?

    package init(total: Limit?, perRange: Limit?) {
        self.total = total
        self.perRange = perRange
    }
}
