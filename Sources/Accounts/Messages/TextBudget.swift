/// How many text messages leave at most, against those who make a server call numbers that pay them.
///
/// Shared by all replicas and applications. Windows begin at multiples of their length since 1970, so that up to twice
/// as many may leave around a window's end.
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
    /// Those to numbers that share country code and the next three digits.
    package let perRange: Limit?

    package init(total: Limit?, perRange: Limit?) {
        self.total = total
        self.perRange = perRange
    }
}
