/// The rule that refuses a request, with the reason and the remedies as texts for people.
package struct Refusal: Sendable, Equatable {
    /// A stable id such as `provider.off`.
    package let rule: String
    package let reason: String
    package let remedies: [String]

    package init(rule: String, reason: String, remedies: [String]) {
        (self.rule, self.reason, self.remedies) = (rule, reason, remedies)
    }
}

extension Refusal {
    /// The refusal of a review that names an identity of no account, or of another one.
    static let foreignIdentity = Refusal(
        rule: "identity.foreign", reason: "The identity is not one of this account",
        remedies: ["Read the account's identities again."])

    /// The refusal of a redirect that is to re-authenticate, by a provider without `auth_time`.
    static let noAuthenticationTime = Refusal(
        rule: "reauthentication.no-time", reason: "The provider does not state when the person authenticated there",
        remedies: ["Authenticate with another identity of the account.", "Sign out, and sign in again."])
}
