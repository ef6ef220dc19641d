/// Whom a password is hashed for, which is how a flood is told from everybody else.
package struct PasswordAsker: Sendable {
    /// What one subscriber has of the network, as limits go by it.
    package let network: String
    /// Whose password it is; `nil` while that is not known.
    package let subject: AttemptKey?
    /// `nil` where nobody can tell.
    package let presence: Presence?

    package init(network: String, subject: AttemptKey?, presence: Presence? = nil) {
        self.network = network
        self.subject = subject
        self.presence = presence
    }

    package init(_ client: Client, subject: AttemptKey?) {
        self.init(network: client.network, subject: subject, presence: client.presence)
    }
}
