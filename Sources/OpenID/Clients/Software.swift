package import ProviderKit

/// A mobile app whose installations register themselves, each as its own client.
package struct Software: Sendable, Equatable {
    /// The issuer whose signed statements about the software are accepted besides the configured ones.
    package struct StatementIssuer: Sendable, Equatable {
        package let issuer: String
        package let keys: TokenKeys
        package let algorithms: Set<TokenRules.Algorithm>

        package init(issuer: String, keys: TokenKeys, algorithms: Set<TokenRules.Algorithm>) {
            (self.issuer, self.keys, self.algorithms) = (issuer, keys, algorithms)
        }
    }

    /// The names, redirect URIs, scopes and lifetimes of each instance.
    package var template: OAuthClient
    package var version: String
    /// SHA-256 of each token with which an installation may register.
    package var initialTokens: [[UInt8]] = []
    /// SHA-256 of each statement that is accepted byte for byte.
    package var statements: [[UInt8]] = []
    package var statementIssuer: StatementIssuer?
    /// How long after its registration an instance must redeem its first code.
    package var firstLoginWithin: Duration = .seconds(3600)
    /// How long an instance may stay unused.
    package var idle: Duration = .seconds(365 * 86400)

    package init(template: OAuthClient, version: String) { (self.template, self.version) = (template, version) }
}

/// How clients that are not configured may register (RFC 7591).
package struct RegistrationSettings: Sendable, Equatable {
    package enum Mode: String, Sendable, CaseIterable, Decodable {
        case off
        /// With an initial access token.
        case token
        case open
    }

    package var mode = Mode.off
    /// SHA-256 of each initial access token.
    package var initialTokens: [[UInt8]] = []
    package var scopes: Set<String> = ["openid", "profile", "email"]
    package var requiresPKCE = true
    /// How long a client may stay unused.
    package var idle: Duration = .seconds(90 * 86400)

    package init() {}
}

/// Sign-in at a browser by an app that is signed in on a phone.
package struct QRSettings: Sendable, Equatable {
    package enum NumberMode: String, Sendable, CaseIterable, Decodable {
        /// The person types the number into the app; where the app has no field for it, the person compares it.
        case app
        case always
    }

    package var isEnabled = true
    /// The page that the QR code opens; `nil` for the issuer's own.
    package var url: String?
    package var lifetime: Duration = .seconds(120)
    package var number = NumberMode.app
    /// The app's pages in the app stores, by platform: `ios` and `android`.
    package var appLinks: [String: String] = [:]

    package init() {}
}
