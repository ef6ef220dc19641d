/// A provider whose identities can have a password.
///
/// It says whom a typed name means and where its mails lead; hashes, attempts and one-time tokens are the core's.
public protocol PasswordProvider: Provider {
    /// The one subject that what a person typed stands for.
    /// - Throws: `ProviderError.malformed`.
    func subject(typed: String) throws -> PasswordSubject

    /// Where a mailed link leads; `token` is already safe in a query.
    func link(for purpose: PasswordLink, token: String) -> String

    /// Whether a verification link opens an account only together with the registered password.
    var linksNeedPassword: Bool { get }
}

extension PasswordProvider {
    /// `false`: the link alone does.
    public var linksNeedPassword: Bool { false }
}

/// Whom a typed name means.
public struct PasswordSubject: Sendable, Equatable {
    /// Unique inside the provider.
    public let providerUid: String
    /// Where verification and reset messages go, and what they prove.
    public let address: EmailAddress

    /// A subject that answers at this address.
    public init(providerUid: String, address: EmailAddress) {
        self.providerUid = providerUid
        self.address = address
    }
}

/// What a mailed link is for.
public enum PasswordLink: Sendable, Equatable {
    /// Confirms a registration.
    case verification
    /// Sets a new password.
    case reset
}
