import Accounts

extension PasswordAsker {
    /// Somebody at a network, asking about a subject that is told by its name.
    static func at(
        _ network: String, in block: String? = nil, about subject: String? = nil, presence: Presence? = nil
    ) -> Self {
        let subject = subject.map { AttemptKey(bytes: Array($0.utf8)) }
        return .init(network: network, block: block, subject: subject, presence: presence)
    }

    /// Whoever it is.
    static let somebody = Self.at("192.0.2.1")
}
