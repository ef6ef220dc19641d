import Accounts

extension HashingRequester {
    /// Returns a requester in a network, with a subject that is derived from its name.
    static func at(
        _ network: String, in block: String? = nil, about subject: String? = nil, connection: ClientConnection? = nil,
        place: HashingPlace? = nil
    ) -> Self {
        let subject = subject.map { AttemptKey(bytes: Array($0.utf8)) }
        return .init(network: network, block: block, subject: subject, connection: connection, place: place)
    }

    /// Any requester.
    static let somebody = Self.at("192.0.2.1")
}
