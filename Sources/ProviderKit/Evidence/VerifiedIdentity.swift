/// What a provider found proven.
///
/// Evidence only: whose account it is, is decided elsewhere.
public struct VerifiedIdentity: Sendable, Equatable {
    /// Unique inside the provider, never empty, at most 255 bytes.
    public var providerUid: String
    /// A person nobody can name yet.
    ///
    /// A guest's identity is dropped as soon as the account gets another.
    public var isGuest: Bool
    /// What the source says about addresses.
    ///
    /// Claims, never keys.
    public var addresses: [AddressClaim]
    /// A name to greet the person by; kept from the first sign-in that has one.
    public var displayName: String?
    /// Further profile claims, stored with the identity.
    public var profile: [String: JSONValue]
    /// Authentication methods (RFC 8176), as in `pwd`, `otp`.
    public var methods: [String]

    /// Evidence about one subject.
    public init(
        providerUid: String, isGuest: Bool = false, addresses: [AddressClaim] = [], displayName: String? = nil,
        profile: [String: JSONValue] = [:], methods: [String] = []
    ) {
        self.providerUid = providerUid
        self.isGuest = isGuest
        self.addresses = addresses
        self.displayName = displayName
        self.profile = profile
        self.methods = methods
    }
}

/// What a source says about one address.
public struct AddressClaim: Sendable, Equatable {
    /// The address itself, normalised.
    public let address: EmailAddress
    /// The source says that the person controls the address.
    public let isVerified: Bool
    /// The source may speak for that address: it is its own domain's, or a code was sent there.
    public let isAuthoritative: Bool

    /// A claim; one that is not verified never owns the address.
    public init(address: EmailAddress, isVerified: Bool, isAuthoritative: Bool) {
        self.address = address
        self.isVerified = isVerified
        self.isAuthoritative = isAuthoritative
    }
}
