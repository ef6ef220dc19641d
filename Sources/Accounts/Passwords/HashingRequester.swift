/// A place in the hashing queue that a call has reserved for its first hash.
package struct HashingPlace: Sendable, Hashable {
    package let id: UInt64

    package init(id: UInt64) { self.id = id }
}

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
    /// The place that the call has reserved; `nil` if it has none.
    package let place: HashingPlace?

    /// Creates a requester; without a block, the network is its own block.
    package init(
        network: String, block: String? = nil, subject: AttemptKey?, application: Application.ID? = nil,
        connection: ClientConnection? = nil, place: HashingPlace? = nil
    ) {
        self.network = network
        self.block = block ?? network
        (self.subject, self.application) = (subject, application)
        (self.connection, self.place) = (connection, place)
    }

    package init(_ client: Client, subject: AttemptKey?, in application: Application.ID? = nil) {
        self.init(
            network: client.network, block: client.block, subject: subject, application: application,
            connection: client.connection, place: client.hashingPlace)
    }
}
