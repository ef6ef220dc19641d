/// Signs a token with a key from a provider's settings, where a service wants a client to prove itself (RFC 7523).
public protocol TokenSigning: Sendable {
    /// A compact JWS by ES256; `key` is a P-256 private key in PEM (PKCS #8, as in Apple's `.p8`).
    /// - Throws: `UnreadableKeys`.
    func sign(_ claims: [String: JSONValue], key: String, keyID: String) throws -> String
}
