/// The scopes and the resource that an OpenID client asks a token for.
package struct TokenTarget: Sendable, Hashable {
    /// The scopes that the client asks for; empty for all that it was granted.
    package var scopes: [String] = []
    /// The resource that the client names (RFC 8707); `nil` for the only one that it was granted.
    package var resource: String?
    /// The scopes that the client may have now at each of its resources, and under an empty name without a resource.
    package var available: [String: [String]] = [:]
    /// Whether the account's consent must contain all that was granted.
    package var needsConsent = false

    package init() {}
}
