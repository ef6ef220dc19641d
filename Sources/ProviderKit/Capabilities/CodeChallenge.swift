internal import Crypto
internal import Foundation

/// Proof Key for Code Exchange (RFC 7636), method S256.
public enum CodeChallenge {
    /// The challenge for a verifier: its SHA-256 in base64url.
    public static func s256(of verifier: String) -> String {
        Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
