package import Accounts
import Crypto
import CryptoExtras
import Dispatch
import Foundation

/// A private key with its public key and the header of its tokens.
///
/// It calls swift-crypto directly, because a JWT library would make each signature 20 % (RS256) to 70 % (EdDSA) slower.
package struct SigningKey: Sendable {
    private enum Pair: Sendable {
        case rsa(_RSA.Signing.PrivateKey, _RSA.Signing.PublicKey)
        case p256(P256.Signing.PrivateKey, P256.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PrivateKey, Curve25519.Signing.PublicKey)
    }

    package let algorithm: SigningAlgorithm
    /// The modulus length for RS256; otherwise 0.
    package let bits: Int
    package let publicKey: PublicJWK
    /// The header of the access tokens that the key signs, in base64url.
    let header: [UInt8]
    private let pair: Pair

    package var kid: String { publicKey.thumbprint }

    private init(_ pair: Pair) throws {
        self.pair = pair
        switch pair {
        case .rsa(_, let key):
            let numbers = try key.getKeyPrimitives()
            algorithm = .rs256
            bits = key.keySizeInBits
            publicKey = .rsa(modulus: numbers.modulus, exponent: numbers.publicExponent)
        case .p256(_, let key):
            algorithm = .es256
            bits = 0
            publicKey = .p256(point: key.rawRepresentation)
        case .ed25519(_, let key):
            algorithm = .edDSA
            bits = 0
            publicKey = .ed25519(point: key.rawRepresentation)
        }
        header = Array(JWTHeader.encode(algorithm, kid: publicKey.thumbprint).utf8)
    }

    // MARK: - Making and keeping

    /// Generates a key; `bits` is 2048, 3072 or 4096 for RS256; other algorithms ignore it.
    ///
    /// Generating an RSA key takes up to seconds, so keys are generated one at a time on their own queue.
    /// - Throws: `TokensError.unsupportedKeySize`.
    package static func generate(_ algorithm: SigningAlgorithm, bits: Int) async throws -> SigningKey {
        try await withCheckedThrowingContinuation { continuation in
            generation.async { continuation.resume(with: Result { try SigningKey(drawing: algorithm, bits: bits) }) }
        }
    }

    private static let generation = DispatchQueue(label: "gatehouse.key-generation", qos: .utility)

    private init(drawing algorithm: SigningAlgorithm, bits: Int) throws {
        switch algorithm {
        case .rs256:
            guard [2048, 3072, 4096].contains(bits) else { throw TokensError.unsupportedKeySize(bits: bits) }
            let key = try _RSA.Signing.PrivateKey(keySize: .init(bitCount: bits))
            try self.init(.rsa(key, key.publicKey))
        case .es256:
            let key = P256.Signing.PrivateKey()
            try self.init(.p256(key, key.publicKey))
        case .edDSA:
            let key = Curve25519.Signing.PrivateKey()
            try self.init(.ed25519(key, key.publicKey))
        }
    }

    /// Decodes a private key in the form that `exported` returns.
    /// - Throws: `TokensError.malformedSigningKey`.
    package init(_ algorithm: SigningAlgorithm, privateKey: [UInt8]) throws {
        do {
            switch algorithm {
            case .rs256:
                let key = try _RSA.Signing.PrivateKey(derRepresentation: privateKey)
                try self.init(.rsa(key, key.publicKey))
            case .es256:
                let key = try P256.Signing.PrivateKey(rawRepresentation: privateKey)
                try self.init(.p256(key, key.publicKey))
            case .edDSA:
                let key = try Curve25519.Signing.PrivateKey(rawRepresentation: privateKey)
                try self.init(.ed25519(key, key.publicKey))
            }
        } catch { throw TokensError.malformedSigningKey(algorithm) }
    }

    /// The private key, which must be encrypted before it is stored: PKCS #1 in DER for RSA, 32 bytes for the others.
    package var exported: [UInt8] {
        switch pair {
        case .rsa(let key, _): Array(key.derRepresentation)
        case .p256(let key, _): Array(key.rawRepresentation)
        case .ed25519(let key, _): Array(key.rawRepresentation)
        }
    }

    // MARK: - Signatures

    /// Signs a message in the form that JWS requires (RFC 7518 sections 3.3 and 3.4, RFC 8037 section 3.1).
    package func sign(_ message: [UInt8]) throws -> [UInt8] {
        switch pair {
        case .rsa(let key, _):
            // RS256 requires this padding, which is insecure for encryption but not for signatures.
            try Array(key.signature(for: message, padding: .insecurePKCS1v1_5).rawRepresentation)
        case .p256(let key, _): try Array(key.signature(for: message).rawRepresentation)
        case .ed25519(let key, _): try Array(key.signature(for: message))
        }
    }

    func isValid(_ signature: [UInt8], for message: some DataProtocol) -> Bool {
        switch pair {
        case .rsa(_, let key):
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return key.isValidSignature(signature, for: message, padding: .insecurePKCS1v1_5)
        case .p256(_, let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: message)
        case .ed25519(_, let key): return key.isValidSignature(signature, for: message)
        }
    }
}
