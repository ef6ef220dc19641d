/// A provider that proves an address by a code sent there.
///
/// It says what a typed address means; codes, their attempts and their messages are the core's.
public protocol ChallengeProvider: Provider {
    /// The field of `POST /auth/{kind}/otp` that holds the address.
    static var targetField: String { get }

    /// The one address that what a person typed stands for.
    /// - Throws: `ProviderError.malformed`, also for one that may not be used here.
    func target(typed: String) throws -> ChallengeTarget

    /// Where the link beside a mailed code leads; `nil` for none.
    func signInLink(token: String) -> String?

    /// How long an address that nobody used still proves its owner alone; `nil` for ever.
    ///
    /// Phone numbers are given to other people.
    var idleLimit: Duration? { get }
}

extension ChallengeProvider {
    /// For ever.
    public var idleLimit: Duration? { nil }

    /// No link.
    public func signInLink(token: String) -> String? { nil }
}

/// Whom a code is sent to.
public struct ChallengeTarget: Sendable, Equatable {
    /// Unique inside the provider.
    public let providerUid: String
    /// Where the code goes, and what it proves.
    public let address: Address

    /// A subject that is reached at this address.
    public init(providerUid: String, address: Address) {
        self.providerUid = providerUid
        self.address = address
    }
}
