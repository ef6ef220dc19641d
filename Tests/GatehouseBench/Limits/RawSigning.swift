import Crypto
import CryptoExtras
import Foundation

extension Contender {
    /// A message that is as long as the header and payload of an access token.
    private static let message = Data(repeating: UInt8(ascii: "a"), count: 640)

    static func rs256Signing(seconds: Double) -> Contender {
        let message = message
        return .rawLoop("raw RSA signing, 3072 bits", seconds: seconds) {
            let key = try RSAKey.shared.get()
            return { _ = try key.signature(for: message, padding: .insecurePKCS1v1_5) }
        }
    }

    /// Signs that many messages in each run.
    static func es256Signing(_ count: Int = 1, seconds: Double) -> Contender {
        let message = message
        let name = count == 1 ? "raw P-256 signing" : "raw P-256 signing, \(count) times"
        return .rawLoop(name, seconds: seconds) {
            let key = P256.Signing.PrivateKey()
            return { for _ in 0..<count { _ = try key.signature(for: message) } }
        }
    }

    /// Verifies a presented token and signs a new one in each run.
    static func es256SigningAndVerifying(seconds: Double) -> Contender {
        let message = message
        return .rawLoop("raw P-256 signing and verifying", seconds: seconds) {
            let key = P256.Signing.PrivateKey()
            let presented = try key.signature(for: message)
            return {
                guard key.publicKey.isValidSignature(presented, for: message) else {
                    throw BenchError("a bad signature")
                }
                _ = try key.signature(for: message)
            }
        }
    }
}

/// The RSA key, generated once because that takes longer than the measurement.
private enum RSAKey {
    static let shared = Result { try _RSA.Signing.PrivateKey(keySize: .bits3072) }
}
