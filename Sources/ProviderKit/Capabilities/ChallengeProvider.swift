/// A provider that proves an address by a code that is sent there.
///
/// The provider parses addresses. The server makes the codes, counts the attempts and sends the messages.
public protocol ChallengeProvider: Provider {
    /// The field of `POST /auth/{kind}/otp` that contains the address.
    static var targetField: String { get }

    /// Parses an address as a person typed it.
    /// - Throws: `ProviderError.malformed`, also for an address that the settings do not allow.
    func target(typed: String) throws -> ChallengeTarget

    /// The link that is mailed beside a code; `nil` for none.
    func signInLink(token: String) -> String?

    /// How long an address may be unused before it no longer opens its account alone; `nil` for no limit.
    ///
    /// Operators give phone numbers of former customers to other people.
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
    public init(providerUid: String, address: Address) {
        self.providerUid = providerUid
        self.address = address
    }
}
