/// Checks JSON Web Tokens (RFC 7519, RFC 8725) that somebody else signed.
public protocol TokenVerifying: Sendable {
    /// The claims of a token that is signed by one of these keys, comes from whom and is meant for whom the rules say,
    /// and is valid now.
    ///
    /// Nothing in the token's header leads anywhere: `jku`, `x5u`, `x5c` and `jwk` are not looked at.
    /// - Throws: `ProviderError.refused`; `ProviderError.unavailable` where published keys can't be fetched.
    func verify(_ token: String, by rules: TokenRules) async throws -> TokenClaims

    /// Whether keys from settings are readable; published ones are not fetched.
    /// - Throws: `UnreadableKeys`.
    func check(_ keys: TokenKeys) throws
}

/// Whose signatures count.
public enum TokenKeys: Sendable, Hashable {
    /// A JWK Set (RFC 7517, 5) at this URL, fetched when needed and kept.
    case published(url: String)
    /// The text of a JWK Set, or of a single JWK.
    case set(String)
    /// A public key in PEM.
    case pem(String)
}

/// Why keys from settings can't be used.
public struct UnreadableKeys: Error, Sendable {
    /// For an admin; never repeats the keys.
    public let reason: String

    /// A reason completes "the keys …".
    public init(reason: String) {
        self.reason = reason
    }
}

/// What makes a token acceptable.
public struct TokenRules: Sendable {
    /// Asymmetric algorithms of RFC 7518 and RFC 8037; there are no others here.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        case rs256 = "RS256"
        case rs384 = "RS384"
        case rs512 = "RS512"
        case ps256 = "PS256"
        case ps384 = "PS384"
        case ps512 = "PS512"
        case es256 = "ES256"
        case es384 = "ES384"
        case es512 = "ES512"
        case edDSA = "EdDSA"
    }

    /// Whose signatures count.
    public var keys: TokenKeys
    /// Those that a token may be signed with; a key that names its own algorithm is used with no other.
    public var algorithms: Set<Algorithm>
    /// `iss` must be one of these; `{tenantid}` in one stands for the token's `tid`.
    public var issuers: [String]
    /// `aud` must have one of these.
    public var audiences: [String]
    /// How long after `iat` it is taken; `exp` counts in any case.
    public var maximumAge: Duration?
    /// How far `exp` may lie after `iat`.
    public var longestLifetime: Duration?
    /// Not every signed event expires.
    public var requiresExpiry: Bool

    /// Rules; `exp` is required unless `requiresExpiry` says otherwise.
    public init(
        keys: TokenKeys, algorithms: Set<Algorithm>, issuers: [String], audiences: [String],
        maximumAge: Duration? = nil, longestLifetime: Duration? = nil, requiresExpiry: Bool = true
    ) {
        self.keys = keys
        self.algorithms = algorithms
        self.issuers = issuers
        self.audiences = audiences
        self.maximumAge = maximumAge
        self.longestLifetime = longestLifetime
        self.requiresExpiry = requiresExpiry
    }
}
