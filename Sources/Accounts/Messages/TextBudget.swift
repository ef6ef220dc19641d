/// Limits on the number of text messages, against toll fraud.
///
/// All replicas and applications share the budget. Windows begin at multiples of their length since 1970, so that up
/// to twice the count may be sent around the boundary of two windows.
package struct TextBudget: Sendable, Equatable {
    package let total: Rate?
    /// The limit for messages to numbers with the same country code and next three digits.
    package let perRange: Rate?

    package init(total: Rate?, perRange: Rate?) { (self.total, self.perRange) = (total, perRange) }
}
