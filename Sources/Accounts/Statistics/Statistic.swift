/// A number that the server counts for administrators, by its name on the wire.
package enum Statistic: String, Sendable, CaseIterable {
    /// Sessions that a proof has opened, by provider, including those of new accounts.
    case signIns
    /// New accounts, by provider.
    case signUps
    /// Identities that were added to an account, by provider.
    case links
    /// Refused calls, by the rule that refused them, or by the error code.
    case refusals
    /// Problems between the server and the services of providers, by `provider/finding`.
    case providerFailures
    case refreshes
    case merges
    /// Accounts whose grace period has begun.
    case deletions
    case erasures
    /// Calls that were admitted to hash a password.
    case hashing
    /// Attempts to send a message, by `channel/outcome`.
    case messages
}

extension Statistic {
    /// The label of a part that is itself a part of something, such as a finding of a provider.
    package static func label(_ whole: String, _ part: String) -> String { "\(whole)/\(part)" }
}
