/// Whom a password is hashed for, which is how a flood is told from everybody else.
package struct PasswordAsker: Sendable {
    /// What one subscriber has of the network, as limits go by it.
    package let network: String
    /// What the network is a part of, in which somebody may have them by the thousand.
    package let block: String
    /// Whose password it is; `nil` while that is not known.
    package let subject: AttemptKey?
    /// `nil` where nobody can tell.
    package let presence: Presence?

    /// A network that isn't said to be a part of anything is a block of its own.
    package init(network: String, block: String? = nil, subject: AttemptKey?, presence: Presence? = nil) {
        self.network = network
        self.block = block ?? network
        self.subject = subject
        self.presence = presence
    }

    package init(_ client: Client, subject: AttemptKey?) {
        self.init(network: client.network, block: client.block, subject: subject, presence: client.presence)
    }
}
