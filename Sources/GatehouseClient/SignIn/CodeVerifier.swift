internal import Foundation

/// The proof key of a redirect flow (RFC 7636).
enum CodeVerifier {
    /// Returns 256 random bits in base64url; the system's generator is cryptographically secure.
    static func random() -> String { Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }).base64URL }

    /// The verifier's challenge by the method `S256`.
    static func challenge(of verifier: String) -> String { Data(SHA256.digest(of: Array(verifier.utf8))).base64URL }
}

extension Data {
    /// Base64url without padding (RFC 4648, 5).
    fileprivate var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
