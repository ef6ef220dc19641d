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
    /// Authentication methods (RFC 8176), such as `pwd` or `otp`.
    public var methods: [String]
    /// When the person authenticated to the provider, if the proof states it.
    ///
    /// For a token, use `TokenClaims.provenAt`. For a proof in the request itself, such as a code or a gateway's
    /// header, `nil` means now. A redirect flow with `nil` does not re-authenticate.
    public var authenticatedAt: Date?
    /// Set if the proof is valid only once.
    ///
    /// A call that fails does not consume it, unless it presents the code of a redirect flow, which is consumed too.
    public var singleUse: SingleUse?
    /// Set if the proof is valid for any number of sign-ins, but for only one re-authentication.
    public var singleReauthentication: SingleUse?
    /// The service's tokens for this person, stored encrypted until the identity is removed.
    public var tokens: ProviderTokens?

    /// Creates evidence about one person.
    public init(
        providerUid: String, isGuest: Bool = false, addresses: [AddressClaim] = [], displayName: String? = nil,
        profile: [String: JSONValue] = [:], methods: [String] = [], authenticatedAt: Date? = nil,
        singleUse: SingleUse? = nil, singleReauthentication: SingleUse? = nil, tokens: ProviderTokens? = nil
    ) {
        (self.providerUid, self.isGuest, self.addresses) = (providerUid, isGuest, addresses)
        (self.displayName, self.profile, self.methods) = (displayName, profile, methods)
        (self.authenticatedAt, self.singleUse) = (authenticatedAt, singleUse)
        (self.singleReauthentication, self.tokens) = (singleReauthentication, tokens)
    }
}

/// A provider's statement about one address.
public struct AddressClaim: Sendable, Equatable, Codable {
    /// The normalised address.
    public let address: Address
    /// Whether the provider states that the person controls the address.
    public let isVerified: Bool
    /// Whether the provider is an authority for the address: it owns the domain, or sent a code to the address.
    public let isAuthoritative: Bool

    /// Creates a claim about an address as the provider wrote it; `nil` if the text is not one plain address.
    ///
    /// If normalisation converts other characters to ASCII, as in `victim@\u{ff45}xample.com`, the claim is not
    /// verified, because the provider may have verified a different person's address.
    public init?(email text: String, isVerified: Bool, isAuthoritative: Bool) {
        guard let email = EmailAddress(text) else { return nil }
        let isAsWritten = !EmailAddress.gainsASCII(text)
        self.init(
            address: .email(email), isVerified: isVerified && isAsWritten,
            isAuthoritative: isAuthoritative && isAsWritten)
    }

    /// Creates a claim about an address; an unverified claim gives no rights to the address.
    public init(address: Address, isVerified: Bool, isAuthoritative: Bool) {
        (self.address, self.isVerified, self.isAuthoritative) = (address, isVerified, isAuthoritative)
    }
}

/// Identifies a proof that is valid only once.
///
/// The server stores the id in the transaction that uses the proof, and refuses the same proof afterwards. Ids are
/// separate for each provider.
public struct SingleUse: Sendable, Equatable, Codable {
    /// Distinguishes the proof from all others, for example by its issuer and `jti`.
    public let id: String
    /// When the proof expires, after which its id need not be stored.
    public let expires: Date

    /// Creates the identification of a proof.
    public init(id: String, expires: Date) { (self.id, self.expires) = (id, expires) }
}

/// A service's tokens for a person; a `RevokingProvider` revokes them.
public struct ProviderTokens: Sendable, Equatable, Codable {
    /// A token that is valid until it is revoked.
    public var refreshToken: String?
    /// A token whose lifetime the service chooses.
    public var accessToken: String?
    /// The client that the tokens were issued to, if the provider has several.
    public var clientID: String?

    /// Creates a set of tokens to store.
    public init(refreshToken: String? = nil, accessToken: String? = nil, clientID: String? = nil) {
        (self.refreshToken, self.accessToken, self.clientID) = (refreshToken, accessToken, clientID)
    }
}
