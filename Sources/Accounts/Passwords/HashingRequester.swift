/// The client and the subject of a hashing request, by which the queue shares its places fairly.
package struct HashingRequester: Sendable {
    /// The client's network, an IPv4 address or an IPv6 /64, which the rate limits count by.
    package let network: String
    /// The /24 or /48 around the network; one attacker may have thousands of networks in a block.
    package let block: String
    /// The subject whose password is hashed; `nil` if it is not known yet.
    package let subject: AttemptKey?
    /// The application of the subject; `nil` if the subject is not known yet.
    package let application: Application.ID?
    /// The client's connection: if it closes, the wait is cancelled; `nil` if disconnects are not observed.
    package let connection: ClientConnection?

    /// Creates a requester; without a block, the network is its own block.
    package init(
        network: String, block: String? = nil, subject: AttemptKey?, application: Application.ID? = nil,
        connection: ClientConnection? = nil
    ) {
        self.network = network
        self.block = block ?? network
        (self.subject, self.application, self.connection) = (subject, application, connection)
    }

    package init(_ client: Client, subject: AttemptKey?, in application: Application.ID? = nil) {
        self.init(
            network: client.network, block: client.block, subject: subject, application: application,
            connection: client.connection)
    }
}
