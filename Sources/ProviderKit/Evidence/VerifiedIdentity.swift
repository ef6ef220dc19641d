public import Foundation

/// The evidence that a provider returns about one person.
///
/// The server decides which account the evidence opens.
public struct VerifiedIdentity: Sendable, Equatable, Codable {
    /// Identifies the person within the provider; 1 to 255 bytes.
    public var providerUid: String
    /// Whether the person is an unknown guest.
    ///
    /// The server removes a guest's identity once the account has another one.
    public var isGuest: Bool
    /// The addresses that the provider states; they are claims and never identify a person.
    public var addresses: [AddressClaim]
    /// The person's name; the account keeps the first one.
    public var displayName: String?
    /// Further claims, stored with the identity.
    public var profile: [String: JSONValue]
    /// Authentication methods (RFC 8176), as in `pwd`, `otp`.
    public var methods: [String]
    /// When the person authenticated to the provider, as far as the proof states it.
    ///
    /// For a token use `TokenClaims.provenAt`. `nil` means now for a proof that is made in the request itself, such as a
    /// code or a gateway's header; a redirect flow that leaves it out does not re-authenticate.
    public var authenticatedAt: Date?
    /// Set if the proof works only once; only a successful call uses it up.
    public var singleUse: SingleUse?
    /// Set if the proof may sign in repeatedly but re-authenticates only once.
    public var singleReauthentication: SingleUse?
    /// Tokens of the service that act for the person, kept encrypted until the identity is removed.
    public var tokens: ProviderTokens?

    /// Creates evidence about one person.
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

/// A provider's statement about one address.
public struct AddressClaim: Sendable, Equatable, Codable {
    /// The normalised address.
    public let address: Address
    /// The provider states that the person controls the address.
    public let isVerified: Bool
    /// The provider has authority over the address: its domain belongs to the provider, or a code was sent there.
    public let isAuthoritative: Bool

    /// Creates a claim about an e-mail address as the provider wrote it; `nil` if it is not one plain address.
    ///
    /// If normalisation turned other characters into ASCII, as in `victim@\u{ff45}xample.com`, the claim is not
    /// verified, because the provider may have verified an address of somebody else.
    public init?(email text: String, isVerified: Bool, isAuthoritative: Bool) {
        guard let email = EmailAddress(text) else { return nil }
        let isAsWritten = !EmailAddress.gainsASCII(text)
        self.init(
            address: .email(email), isVerified: isVerified && isAsWritten,
            isAuthoritative: isAuthoritative && isAsWritten)
    }

    /// Creates a claim; an unverified claim never owns the address.
    public init(address: Address, isVerified: Bool, isAuthoritative: Bool) {
        self.address = address
        self.isVerified = isVerified
        self.isAuthoritative = isAuthoritative
    }
}

/// Marks a proof that works once.
///
/// The server stores the mark in the transaction that the proof brings about. Marks are separate for each provider.
public struct SingleUse: Sendable, Equatable, Codable {
    /// Distinguishes the proof from all others, for example by its issuer and `jti`.
    public let id: String
    /// When the proof expires and the mark can be removed.
    public let expires: Date

    /// Creates a mark.
    public init(id: String, expires: Date) {
        self.id = id
        self.expires = expires
    }
}

/// Tokens of a service that act for a person; a `RevokingProvider` revokes them.
public struct ProviderTokens: Sendable, Equatable, Codable {
    /// A token that is valid until it is revoked.
    public var refreshToken: String?
    /// A token whose lifetime the service chooses.
    public var accessToken: String?
    /// The client that the tokens were issued to, if the provider has several.
    public var clientID: String?

    /// Creates a set of tokens to keep.
    public init(refreshToken: String? = nil, accessToken: String? = nil, clientID: String? = nil) {
        self.refreshToken = refreshToken
        self.accessToken = accessToken
        self.clientID = clientID
    }
}
