/// Verifies JSON Web Tokens (RFC 7519, RFC 8725) that other parties signed.
public protocol TokenVerifying: Sendable {
    /// Verifies signature, issuer, audience and times of a token and returns its claims.
    ///
    /// Keys that the token's header names (`jku`, `x5u`, `x5c`, `jwk`) are ignored.
    /// - Throws: `ProviderError.refused`; `ProviderError.unavailable` if published keys cannot be fetched.
    func verify(_ token: String, by rules: TokenRules) async throws -> TokenClaims

    /// Checks that keys from settings are readable. Published keys are not fetched.
    /// - Throws: `UnreadableKeys`.
    func check(_ keys: TokenKeys) throws

    /// Checks that a published JWK Set has a key for one of the algorithms.
    /// - Throws: `UnreadableKeys`.
    func check(published json: [UInt8], for algorithms: Set<TokenRules.Algorithm>) throws
}

extension TokenVerifying {
    /// Accepts every set.
    public func check(published json: [UInt8], for algorithms: Set<TokenRules.Algorithm>) throws {}
}

/// The keys that a token may be signed with.
public enum TokenKeys: Sendable, Hashable {
    /// A JWK Set (RFC 7517, 5) at a URL, fetched when needed and cached.
    case published(url: String)
    /// The text of a JWK Set or of a single JWK.
    case set(String)
    /// A public key in PEM.
    case pem(String)

    /// Compares bytes, as `hash(into:)` does, because a client can register a set.
    public static func == (first: Self, second: Self) -> Bool {
        switch (first, second) {
        case (.published(let first), .published(let second)), (.set(let first), .set(let second)),
            (.pem(let first), .pem(let second)):
            first.hasSameBytes(as: second)
        default: false
        }
    }

    /// Hashes the bytes of the text.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .published(let text), .set(let text), .pem(let text):
            Array(text.utf8).withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}

/// Why keys from settings cannot be used.
public struct UnreadableKeys: Error, Sendable {
    /// A reason for administrators, which completes "the keys …" and never contains the keys.
    public let reason: String

    /// Creates the error.
    public init(reason: String) { self.reason = reason }
}

/// The requirements that a token must meet.
public struct TokenRules: Sendable {
    /// The supported algorithms, all asymmetric (RFC 7518, RFC 8037).
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        case rs256 = "RS256", rs384 = "RS384", rs512 = "RS512"
        case ps256 = "PS256", ps384 = "PS384", ps512 = "PS512"
        case es256 = "ES256", es384 = "ES384", es512 = "ES512"
        case edDSA = "EdDSA"
    }

    /// The tolerance for the signer's clock being ahead of this server's clock.
    package static let leeway: Duration = .seconds(5)

    /// The keys that a token may be signed with.
    public var keys: TokenKeys
    /// The algorithms that a token may be signed with; a key that names an algorithm is used with no other.
    public var algorithms: Set<Algorithm>
    /// The values allowed for `iss`; `{tenantid}` is replaced by the token's `tid`.
    public var issuers: [String]
    /// The values of which `aud` must contain one.
    public var audiences: [String]
    /// The maximum time since `iat`, in addition to `exp`.
    public var maximumAge: Duration?
    /// The maximum time between `iat` and `exp`.
    public var longestLifetime: Duration?
    /// Whether `exp` is required; some signed events have none.
    public var requiresExpiry: Bool
    /// Whether `aud` is required; software statements (RFC 7591, 2.3) may have none.
    package var requiresAudience = true
    /// Whether tokens of another explicit type (RFC 8725, 3.11), such as access tokens, and events (RFC 8417), such as
    /// logout tokens, are refused, even if the issuer signs them for the same audience.
    public var acceptsOnlyIDTokens = false
    /// Whether the service itself sent the token; a problem with the token is then a finding about the service.
    ///
    /// A problem with a token from an app is such a finding only if the service signed the token.
    public var isFromService = false

    /// Creates rules.
    public init(
        keys: TokenKeys, algorithms: Set<Algorithm>, issuers: [String], audiences: [String],
        maximumAge: Duration? = nil, longestLifetime: Duration? = nil, requiresExpiry: Bool = true
    ) {
        (self.keys, self.algorithms, self.issuers, self.audiences) = (keys, algorithms, issuers, audiences)
        (self.maximumAge, self.longestLifetime, self.requiresExpiry) = (maximumAge, longestLifetime, requiresExpiry)
    }
}
