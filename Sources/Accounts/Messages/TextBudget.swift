/// Limits on the number of text messages, against toll fraud.
///
/// All replicas and applications share the budget. Windows begin at multiples of their length since 1970, so that up
/// to twice the count may be sent around the boundary of two windows.
package struct TextBudget: Sendable, Equatable {
    package let total: Rate?
    /// The limit for messages to numbers with the same country code and next three digits.
    package let perRange: Rate?

    /// The budget of codes, which anybody can request: a tenth is left to other messages.
    package var ofCodes: Self { Self(total: total?.withoutATenth, perRange: perRange?.withoutATenth) }

    package init(total: Rate?, perRange: Rate?) { (self.total, self.perRange) = (total, perRange) }
}

extension Rate {
    fileprivate var withoutATenth: Self { Self(count - count / 10, per: window) }
}
