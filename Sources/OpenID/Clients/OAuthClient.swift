package import ProviderKit

/// An app that may ask for tokens, as the configuration declares it.
package struct OAuthClient: Sendable, Equatable {
    package enum Grant: String, Sendable, CaseIterable, Decodable {
        case authorizationCode = "authorization_code"
        case refreshToken = "refresh_token"
        case clientCredentials = "client_credentials"
    }

    package enum SubjectType: String, Sendable, CaseIterable, Decodable { case `public`, pairwise }

    package let id: String
    /// The name by language; the key is empty if there is one for all languages.
    package var names: [String: String]
    /// SHA-256 of each valid secret; empty for a client without one.
    package var secrets: [[UInt8]] = []
    /// The keys that the client signs its assertions with (RFC 7523).
    package var keys: TokenKeys?
    package var redirectURIs: [ClientRedirectURI] = []
    package var postLogoutRedirectURIs: [ClientRedirectURI] = []
    /// Where the client is told that a session has ended.
    package var backchannelLogoutURI: String?
    /// Whether people need not consent, because the operator runs the client.
    package var isFirstParty = false
    package var scopes: Set<String> = ["openid", "profile", "email"]
    package var grants: Set<Grant> = [.authorizationCode, .refreshToken]
    package var resources: [String] = []
    /// The audiences whose tokens of other clients the client may inspect.
    package var introspects: [String] = []
    package var requiresPKCE = true
    package var requiresPushedRequests = false
    package var subjectType = SubjectType.public
    package var defaultMaxAge: Int?
    package var allowsGuests = false
    /// Whether the client is an app on a device, besides what its redirect URIs tell.
    package var isDeclaredNative = false
    /// Whether a native client's request needs a press before it ends.
    package var asksToConfirm = true
    /// Whether requests without `access_type` ask for a refresh token, or never get one; `nil` leaves it to `scope`.
    package var isOffline: Bool?
    package var accessLifetime: Duration?
    package var refreshLifetime: Duration?
    package var uri: String?
    /// What the page of consent shows: a picture, and the client's privacy policy and terms of service.
    package var logo, policyURI, tosURI: String?

    package init(id: String, names: [String: String]) { (self.id, self.names) = (id, names) }

    /// The name in English, or for all languages.
    package var name: String {
        names[""] ?? names["en"] ?? names.sorted { $0.key < $1.key }.first?.value ?? id
    }

    package var isPublic: Bool { secrets.isEmpty && keys == nil }

    /// Whether requests with this redirect URI come from an app on a device (RFC 8252).
    package func isNative(redirectingTo uri: String) -> Bool {
        isDeclaredNative || redirectURIs.contains { $0.isOfNativeApp && $0.matches(uri) }
    }

    /// The only host of the redirect URIs, by which pairwise subjects are computed (OpenID Connect Core, 8.1).
    package var sector: String? {
        let hosts = Set(redirectURIs.map(\.host))
        return hosts.count == 1 ? hosts.first ?? nil : nil
    }

    package func hasRedirectURI(_ uri: String) -> Bool { redirectURIs.contains { $0.matches(uri) } }

    /// Whether the secret is one of the client's; compares all of them in constant time.
    package func hasSecret(_ secret: String) -> Bool {
        let digest = Digest.sha256(of: secret)
        return secrets.reduce(false) { ConstantTime.areEqual($1, digest) || $0 }
    }
}

/// The values that scopes of OpenID Connect have, besides those of resources.
package enum StandardScope: String, Sendable, CaseIterable {
    case openid, profile, email, phone, account
    case offlineAccess = "offline_access"
}
