/// Proof Key for Code Exchange (RFC 7636), method S256.
public enum CodeChallenge {
    /// The challenge for a verifier: its SHA-256 in base64url.
    public static func s256(of verifier: String) -> String { Digest.base64URL(Digest.sha256(of: verifier)) }

    /// Whether a text can be a challenge: a SHA-256 in base64url.
    package static func isWellFormed(_ text: String) -> Bool {
        text.utf8.count == 43 && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) }
    }
}
