package import ProviderKit

/// An app that may ask for tokens.
package struct OAuthClient: Sendable, Equatable {
    package enum Grant: String, Sendable, CaseIterable, Codable {
        case authorizationCode = "authorization_code"
        case refreshToken = "refresh_token"
        case clientCredentials = "client_credentials"
        case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    }

    package enum SubjectType: String, Sendable, CaseIterable, Codable { case `public`, pairwise }

    /// Where the client comes from.
    package enum Origin: Sendable, Equatable {
        case configured, registered
        /// One installation of configured software.
        case instance(ClientInstance)
    }

    package let id: String
    package var origin = Origin.configured
    /// The name by language; the key is empty if there is one for all languages.
    package var names: [String: String]
    /// SHA-256 of each valid secret; empty for a client without one.
    package var secrets: [[UInt8]] = []
    /// The keys that the client signs its assertions with (RFC 7523).
    package var keys: TokenKeys?
    /// The only algorithm that it signs them with, if it has chosen one.
    package var assertionAlgorithm: TokenRules.Algorithm?
    package var redirectURIs: [ClientRedirectURI] = []
    package var postLogoutRedirectURIs: [ClientRedirectURI] = []
    /// The URL that receives a logout token when a session ends.
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
    /// Whether the database has noted no use of the registered client in the last hour.
    var isUseStale = false

    package init(id: String, names: [String: String]) { (self.id, self.names) = (id, names) }

    /// Creates a client that is like another one but for its id.
    init(_ other: OAuthClient, id: String) {
        self.init(id: id, names: other.names)
        (redirectURIs, postLogoutRedirectURIs) = (other.redirectURIs, other.postLogoutRedirectURIs)
        (isFirstParty, scopes, grants, requiresPKCE) = (other.isFirstParty, other.scopes, other.grants, true)
        (isDeclaredNative, asksToConfirm, isOffline) = (true, other.asksToConfirm, other.isOffline)
        (accessLifetime, refreshLifetime) = (other.accessLifetime, other.refreshLifetime)
        (uri, logo, policyURI, tosURI) = (other.uri, other.logo, other.policyURI, other.tosURI)
    }

    /// The installation that the client is; `nil` for other clients.
    package var instance: ClientInstance? { if case .instance(let instance) = origin { instance } else { nil } }

    /// The name in English, or for all languages.
    package var name: String {
        names[""] ?? names["en"] ?? names.min { $0.key < $1.key }?.value ?? id
    }

    package var isPublic: Bool { secrets.isEmpty && keys == nil }

    /// Whether requests with this redirect URI come from an app on a device (RFC 8252).
    package func isNative(redirectingTo uri: String) -> Bool {
        isDeclaredNative || redirectURIs.contains { $0.isOfNativeApp && $0.matches(uri) }
    }

    /// The only host of the redirect URIs, by which pairwise subjects are computed (OpenID Connect Core, 8.1).
    package var sector: String? { redirectURIs.sector }

    package func hasRedirectURI(_ uri: String) -> Bool { redirectURIs.contains { $0.matches(uri) } }

    /// Whether the secret is one of the client's; compares all of them in constant time.
    package func hasSecret(_ secret: String) -> Bool { secrets.containsSecret(Digest.sha256(of: secret)) }
}

extension [ClientRedirectURI] {
    /// The host, if all have the same one.
    var sector: String? {
        let hosts = Set(map(\.host))
        return hosts.count == 1 ? hosts.first ?? nil : nil
    }
}

/// The values that scopes of OpenID Connect have, besides those of resources.
package enum StandardScope: String, Sendable, CaseIterable {
    case openid, profile, email, phone, account
    case offlineAccess = "offline_access"
    /// The tokens open a browser session (`css`).
    case native
    /// The tokens answer sign-ins by QR code.
    case qr

    /// The names of `qr`, one of which apps of Blitz use.
    package static let qrNames = [qr.rawValue, "blitz_qr_auth"]

    /// The scopes of tokens that open further sessions, which a borrowed session does not give.
    static let lending = [native.rawValue] + qrNames

    static func isLending(_ scope: String) -> Bool { lending.containsBytes(of: scope) }
}

extension Set<String> {
    /// Scopes in the order in which they are shown: those of OpenID Connect, then the others by name.
    var inOrder: [String] {
        let standard = StandardScope.allCases.map(\.rawValue).filter(contains)
        return standard + subtracting(standard).sorted()
    }
}
