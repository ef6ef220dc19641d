internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import JWTKit
internal import ProviderKit

/// A public key for verifying the signatures of others.
struct UpstreamKey: Sendable {
    enum Material: Sendable {
        case rsa(JWTKit.Insecure.RSA.PublicKey)
        case p256(ES256PublicKey)
        case p384(ES384PublicKey)
        case p521(ES512PublicKey)
        case ed25519(EdDSA.PublicKey)
    }

    let material: Material
    let kid: String?
    /// The only algorithm that the key may be used with, if its JWK names one.
    let algorithm: String?

    init(_ material: Material, kid: String? = nil, algorithm: String? = nil) {
        self.material = material
        self.kid = kid
        self.algorithm = algorithm
    }

    /// Whether type, curve and `alg` of the key allow an algorithm (RFC 7518, 3.1; RFC 8037, 3.1).
    func fits(_ algorithm: TokenRules.Algorithm) -> Bool {
        guard self.algorithm?.hasSameBytes(as: algorithm.rawValue) ?? true else { return false }
        return switch (material, algorithm) {
        case (.rsa, .rs256), (.rsa, .rs384), (.rsa, .rs512), (.rsa, .ps256), (.rsa, .ps384), (.rsa, .ps512),
            (.p256, .es256), (.p384, .es384), (.p521, .es512), (.ed25519, .edDSA):
            true
        default: false
        }
    }

    /// Whether this key signed the token, with the algorithm of its header.
    func signed(_ token: UpstreamToken) async -> Bool {
        guard fits(token.algorithm) else { return false }
        // A collection of several keys would fall back to another key.
        let keys = JWTKeyCollection()
        switch (material, token.algorithm) {
        case (.rsa(let key), .rs256): await keys.add(rsa: key, digestAlgorithm: .sha256)
        case (.rsa(let key), .rs384): await keys.add(rsa: key, digestAlgorithm: .sha384)
        case (.rsa(let key), .rs512): await keys.add(rsa: key, digestAlgorithm: .sha512)
        case (.rsa(let key), .ps256): await keys.add(pss: key, digestAlgorithm: .sha256)
        case (.rsa(let key), .ps384): await keys.add(pss: key, digestAlgorithm: .sha384)
        case (.rsa(let key), .ps512): await keys.add(pss: key, digestAlgorithm: .sha512)
        case (.p256(let key), _): await keys.add(ecdsa: key)
        case (.p384(let key), _): await keys.add(ecdsa: key)
        case (.p521(let key), _): await keys.add(ecdsa: key)
        case (.ed25519(let key), _): await keys.add(eddsa: key)
        default: return false
        }
        guard let verifier = try? await keys.getKey(), verifier.name == token.algorithm.rawValue else { return false }
        return (try? verifier.verify(token.signature, signs: token.signingInput)) ?? false
    }

    /// The upper bound keeps verification cheap.
    static let rsaBits = 2048...8192

    static func rsa(_ key: _RSA.Signing.PublicKey) -> Material? {
        guard rsaBits.contains(key.keySizeInBits) else { return nil }
        return (try? JWTKit.Insecure.RSA.PublicKey(backing: key)).map { .rsa($0) }
    }
}
