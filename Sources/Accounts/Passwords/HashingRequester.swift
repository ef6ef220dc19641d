/// Who requests a hash, so that the queue can keep a flood from blocking others.
package struct HashingRequester: Sendable {
    /// The subscriber network that limits apply to.
    package let network: String
    /// The block of the network, in which one attacker may have thousands of networks.
    package let block: String
    /// Whose password it is; `nil` while unknown.
    package let subject: AttemptKey?
    /// The application of the subject; `nil` while the subject is unknown.
    package let application: Application.ID?
    /// Tells when the client disconnects, if that is observed.
    package let connection: ClientConnection?

    /// By default the network is its own block.
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
