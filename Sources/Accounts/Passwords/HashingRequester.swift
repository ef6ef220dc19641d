/// Whom a password is hashed for, which is how a flood is told from everybody else.
package struct HashingRequester: Sendable {
    /// What one subscriber has of the network, as limits go by it.
    package let network: String
    /// What the network is a part of, in which somebody may have them by the thousand.
    package let block: String
    /// Whose password it is; `nil` while that is not known.
    package let subject: AttemptKey?
    /// The application that the subject belongs to; `nil` while the subject is not known.
    package let application: Application.ID?
    /// `nil` where nobody can tell.
    package let connection: ClientConnection?

    /// A network that isn't said to be a part of anything is a block of its own.
    package init(
        network: String, block: String? = nil, subject: AttemptKey?, application: Application.ID? = nil,
        connection: ClientConnection? = nil
    ) {
        self.network = network
        self.block = block ?? network
        self.subject = subject
        self.application = application
        self.connection = connection
    }

    package init(_ client: Client, subject: AttemptKey?, in application: Application.ID? = nil) {
        self.init(
            network: client.network, block: client.block, subject: subject, application: application,
            connection: client.connection)
    }
}
