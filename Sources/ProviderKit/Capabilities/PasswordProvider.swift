/// A provider whose identities can have a password.
///
/// The provider parses names and builds the links in mails. The server keeps hashes, attempts and one-time tokens.
public protocol PasswordProvider: Provider {
    /// Parses a name as a person typed it.
    /// - Throws: `ProviderError.malformed`.
    func subject(typed: String) throws -> PasswordSubject

    /// The link for a mail; `token` needs no escaping in a query.
    func link(for purpose: PasswordLink, token: String) -> String

    /// Whether a verification link works only together with the registered password.
    var linksNeedPassword: Bool { get }
}

extension PasswordProvider {
    /// `false`: the link works without the password.
    public var linksNeedPassword: Bool { false }
}

/// The person that a typed name identifies.
public struct PasswordSubject: Sendable, Equatable {
    /// Identifies the person within the provider.
    public let providerUid: String
    /// Receives verification and reset mails, which prove this address.
    public let address: EmailAddress

    /// Creates a subject.
    public init(providerUid: String, address: EmailAddress) {
        (self.providerUid, self.address) = (providerUid, address)
    }
}

/// The purpose of a mailed link.
public enum PasswordLink: Sendable, Equatable {
    /// Confirms a registration.
    case verification
    /// Sets a new password.
    case reset
}
