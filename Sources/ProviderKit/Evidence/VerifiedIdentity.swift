public import Foundation

/// What a provider found proven.
///
/// Evidence only: whose account it is, is decided elsewhere.
public struct VerifiedIdentity: Sendable, Equatable, Codable {
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
    /// When the person proved to the source who they are, as far as the proof says.
    ///
    /// For a token `TokenClaims.provenAt`. `nil` means now for a proof that is made in the request itself, as a code or
    /// a gateway's header; a redirect flow that leaves it out does not re-authenticate.
    public var authenticatedAt: Date?
    /// Set where the proof must not be presented twice; used up by success only.
    public var singleUse: SingleUse?
    /// Set where the proof may be presented again to sign in, but re-authenticates only once.
    public var singleReauthentication: SingleUse?
    /// What the source gave to act for the person, kept sealed until the identity is gone.
    public var tokens: ProviderTokens?

    /// Evidence about one subject.
    public init(
        providerUid: String, isGuest: Bool = false, addresses: [AddressClaim] = [], displayName: String? = nil,
        profile: [String: JSONValue] = [:], methods: [String] = [], authenticatedAt: Date? = nil,
        singleUse: SingleUse? = nil, singleReauthentication: SingleUse? = nil, tokens: ProviderTokens? = nil
    ) {
        self.providerUid = providerUid
        self.isGuest = isGuest
        self.addresses = addresses
        self.displayName = displayName
        self.profile = profile
        self.methods = methods
        self.authenticatedAt = authenticatedAt
        self.singleUse = singleUse
        self.singleReauthentication = singleReauthentication
        self.tokens = tokens
    }
}

/// What a source says about one address.
public struct AddressClaim: Sendable, Equatable, Codable {
    /// The address itself, normalised.
    public let address: Address
    /// The source says that the person controls the address.
    public let isVerified: Bool
    /// The source may speak for that address: it is its own domain's, or a code was sent there.
    public let isAuthoritative: Bool

    /// A claim about an e-mail address as its source wrote it; `nil` if that is not one plain address.
    ///
    /// If the normal form has ASCII characters where the source wrote others, as in `victim@\u{ff45}xample.com`, the
    /// claim is not verified: what the source verified may be somebody else's address.
    public init?(email text: String, isVerified: Bool, isAuthoritative: Bool) {
        guard let email = EmailAddress(text) else { return nil }
        let isAsWritten = !EmailAddress.gainsASCII(text)
        self.init(
            address: .email(email), isVerified: isVerified && isAsWritten,
            isAuthoritative: isAuthoritative && isAsWritten)
    }

    /// A claim; one that is not verified never owns the address.
    public init(address: Address, isVerified: Bool, isAuthoritative: Bool) {
        self.address = address
        self.isVerified = isVerified
        self.isAuthoritative = isAuthoritative
    }
}

/// A proof that works once.
///
/// The core remembers it, inside the provider, in the same transaction as what the proof brought about.
public struct SingleUse: Sendable, Equatable, Codable {
    /// What tells the proof from all others, as in its issuer and `jti`.
    public let id: String
    /// From then on it is worth nothing anyway, and needn't be remembered.
    public let expires: Date

    /// A proof of that name.
    public init(id: String, expires: Date) {
        self.id = id
        self.expires = expires
    }
}

/// Tokens of a service that act for a person; `RevokingProvider` gives them back.
public struct ProviderTokens: Sendable, Equatable, Codable {
    /// Good until it is revoked.
    public var refreshToken: String?
    /// Good for minutes or for ever, as the service likes.
    public var accessToken: String?
    /// The client that they were given to, where the provider has several.
    public var clientID: String?

    /// Tokens to keep.
    public init(refreshToken: String? = nil, accessToken: String? = nil, clientID: String? = nil) {
        self.refreshToken = refreshToken
        self.accessToken = accessToken
        self.clientID = clientID
    }
}
