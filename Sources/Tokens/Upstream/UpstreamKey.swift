internal import Crypto
internal import CryptoExtras
internal import ProviderKit

/// A public key that verifies signatures of other issuers.
struct UpstreamKey: Sendable {
    enum Material: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case p521(P521.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
    }

    let material: Material
    let kid: String?
    /// The only algorithm that may be used with the key, if its JWK specifies one.
    let algorithm: String?

    init(_ material: Material, kid: String? = nil, algorithm: String? = nil) {
        (self.material, self.kid, self.algorithm) = (material, kid, algorithm)
    }

    /// Whether the key's type, curve and `alg` allow the algorithm (RFC 7518, 3.1; RFC 8037, 3.1).
    func fits(_ algorithm: TokenRules.Algorithm) -> Bool {
        guard self.algorithm?.hasSameBytes(as: algorithm.rawValue) ?? true else { return false }
        return switch (material, algorithm) {
        case (.rsa, .rs256), (.rsa, .rs384), (.rsa, .rs512), (.rsa, .ps256), (.rsa, .ps384), (.rsa, .ps512),
            (.p256, .es256), (.p384, .es384), (.p521, .es512), (.ed25519, .edDSA):
            true
        default: false
        }
    }

    /// Whether this key signed the token, using the algorithm in the token's header.
    func signed(_ token: UpstreamToken) -> Bool {
        guard fits(token.algorithm) else { return false }
        let (message, signature) = (token.signingInput, token.signature)
        return switch material {
        case .rsa(let key): Self.isValid(signature, for: message, by: token.algorithm, with: key)
        case .p256(let key):
            (try? P256.Signing.ECDSASignature(rawRepresentation: signature))
                .map { key.isValidSignature($0, for: message) } ?? false
        case .p384(let key):
            (try? P384.Signing.ECDSASignature(rawRepresentation: signature))
                .map { key.isValidSignature($0, for: message) } ?? false
        case .p521(let key):
            (try? P521.Signing.ECDSASignature(rawRepresentation: signature))
                .map { key.isValidSignature($0, for: message) } ?? false
        case .ed25519(let key): key.isValidSignature(signature, for: message)
        }
    }

    private static func isValid(
        _ signature: [UInt8], for message: [UInt8], by algorithm: TokenRules.Algorithm, with key: _RSA.Signing.PublicKey
    ) -> Bool {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return switch algorithm {
        case .rs256: key.isValidSignature(signature, for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5)
        case .rs384: key.isValidSignature(signature, for: SHA384.hash(data: message), padding: .insecurePKCS1v1_5)
        case .rs512: key.isValidSignature(signature, for: SHA512.hash(data: message), padding: .insecurePKCS1v1_5)
        case .ps256: key.isValidSignature(signature, for: SHA256.hash(data: message), padding: .PSS)
        case .ps384: key.isValidSignature(signature, for: SHA384.hash(data: message), padding: .PSS)
        case .ps512: key.isValidSignature(signature, for: SHA512.hash(data: message), padding: .PSS)
        default: false
        }
    }

    /// The allowed modulus lengths; the upper bound keeps verification cheap.
    static let rsaBits = 2048...8192

    static func rsa(_ key: _RSA.Signing.PublicKey) -> Material? {
        rsaBits.contains(key.keySizeInBits) ? .rsa(key) : nil
    }
}
