/// Proof Key for Code Exchange (RFC 7636), method S256.
public enum CodeChallenge {
    /// The challenge for a verifier: its SHA-256 in base64url.
    public static func s256(of verifier: String) -> String { Digest.base64URL(Digest.sha256(of: verifier)) }
}
