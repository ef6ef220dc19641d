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
