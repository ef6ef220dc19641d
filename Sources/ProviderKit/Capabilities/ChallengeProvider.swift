/// A provider that verifies an address by a code sent to it.
///
/// The provider parses addresses. The server generates the codes, counts the attempts and sends the messages.
public protocol ChallengeProvider: Provider {
    /// The field of `POST /auth/{kind}/otp` that contains the address.
    static var targetField: String { get }

    /// Parses an address as a person typed it.
    /// - Throws: `ProviderError.malformed`, also for an address that the settings do not allow.
    func target(typed: String) throws -> ChallengeTarget

    /// The link that is mailed together with a code; `nil` for no link.
    func signInLink(token: String) -> String?

    /// How long an address may be unused before it alone no longer signs in to its account; `nil` for no limit.
    ///
    /// A limit is needed for phone numbers, because operators give numbers of former customers to other people.
    var idleLimit: Duration? { get }
}

extension ChallengeProvider {
    /// No limit.
    public var idleLimit: Duration? { nil }

    /// No link.
    public func signInLink(token: String) -> String? { nil }
}

/// The recipient of a code.
public struct ChallengeTarget: Sendable, Equatable {
    /// Identifies the person within the provider.
    public let providerUid: String
    /// Receives the code, which proves this address.
    public let address: Address

    /// Creates a target.
    public init(providerUid: String, address: Address) { (self.providerUid, self.address) = (providerUid, address) }
}
