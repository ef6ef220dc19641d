/// Signs tokens with keys from a provider's settings, for services that authenticate clients by JWT (RFC 7523).
public protocol TokenSigning: Sendable {
    /// Returns a compact JWS, signed by ES256. `key` is a P-256 private key in PEM (PKCS #8, as in Apple's `.p8`).
    /// - Throws: `UnreadableKeys`.
    func sign(_ claims: [String: JSONValue], key: String, keyID: String) throws -> String
}
