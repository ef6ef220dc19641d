/// Why the linking rules refuse, in a form that can be explained to a person and replayed by an admin.
package struct Refusal: Sendable, Equatable {
    /// A stable id, as in `provider.off`.
    package let rule: String
    package let reason: String
    /// What the person can do instead.
    package let remedies: [String]

    package init(rule: String, reason: String, remedies: [String]) {
        self.rule = rule
        self.reason = reason
        self.remedies = remedies
    }
}
