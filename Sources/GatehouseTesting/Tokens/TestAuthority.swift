public import ProviderKit

internal import Crypto
internal import CryptoExtras
public import Foundation
internal import Tokens

/// An issuer of signed tokens for tests, with its own key.
public struct TestAuthority: Sendable {
    private enum Key: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    /// The key's `kid`.
    public let keyID: String
    /// The algorithm that signs tokens.
    public let algorithm: TokenRules.Algorithm
    private let key: Key

    /// Creates an issuer with a new key.
    /// - Throws: `UnreadableKeys` for algorithms other than RS256, ES256 and EdDSA.
    public init(_ algorithm: TokenRules.Algorithm = .es256, keyID: String = "test-key") throws {
        self.keyID = keyID
        self.algorithm = algorithm
        switch algorithm {
        case .rs256: key = .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        case .es256: key = .p256(P256.Signing.PrivateKey())
        case .edDSA: key = .ed25519(Curve25519.Signing.PrivateKey())
        default: throw UnreadableKeys(reason: "of \(algorithm.rawValue) are not made here")
        }
    }

    /// The public key as a JWK (RFC 7517, 4).
    public var publicKey: JSONValue {
        var members: [String: JSONValue] = ["kid": .string(keyID), "alg": .string(algorithm.rawValue), "use": "sig"]
        switch key {
        case .rsa(let key):
            let numbers = try? key.publicKey.getKeyPrimitives()
            members["kty"] = "RSA"
            members["n"] = .string(Base64URL.encode(numbers?.modulus ?? Data()))
            members["e"] = .string(Base64URL.encode(numbers?.publicExponent ?? Data()))
        case .p256(let key):
            let point = key.publicKey.rawRepresentation
            members["kty"] = "EC"
            members["crv"] = "P-256"
            members["x"] = .string(Base64URL.encode(point.prefix(32)))
            members["y"] = .string(Base64URL.encode(point.suffix(32)))
        case .ed25519(let key):
            members["kty"] = "OKP"
            members["crv"] = "Ed25519"
            members["x"] = .string(Base64URL.encode(key.publicKey.rawRepresentation))
        }
        return .object(members)
    }

    /// A JWK Set with the public key (RFC 7517, 5).
    public var keySet: JSONValue { ["keys": [publicKey]] }

    /// The JWK Set as text, for settings.
    public var keySetText: String { keySet.text }

    /// The public key in PEM; empty for EdDSA.
    public var publicKeyPEM: String {
        switch key {
        case .rsa(let key): key.publicKey.pemRepresentation
        case .p256(let key): key.publicKey.pemRepresentation
        case .ed25519: ""
        }
    }

    /// The private key in PEM (PKCS #8 for ES256, as in Apple's `.p8`); empty for EdDSA.
    public var privateKeyPEM: String {
        switch key {
        case .rsa(let key): key.pemRepresentation
        case .p256(let key): key.pemRepresentation
        case .ed25519: ""
        }
    }

    /// Signs claims as a compact JWS (RFC 7515, 3.1); the members of `header` override `alg`, `kid` and `typ`.
    public func token(_ claims: [String: JSONValue], header: [String: JSONValue] = [:]) throws -> String {
        let standard: [String: JSONValue] = ["alg": .string(algorithm.rawValue), "kid": .string(keyID), "typ": "JWT"]
        return try signed(header: standard.merging(header) { $1 }, payload: Data(JSONValue.object(claims).text.utf8))
    }

    /// Signs any payload as a compact JWS; the payload need not be JSON.
    public func token(payload: Data) throws -> String {
        try signed(header: ["alg": .string(algorithm.rawValue), "kid": .string(keyID)], payload: payload)
    }

    private func signed(header: [String: JSONValue], payload: Data) throws -> String {
        let message = Self.part(header) + "." + Base64URL.encode(payload)
        return message + "." + Base64URL.encode(try signature(of: Data(message.utf8)))
    }

    static func part(_ members: [String: JSONValue]) -> String {
        Base64URL.encode(Data(JSONValue.object(members).text.utf8))
    }

    private func signature(of message: Data) throws -> Data {
        switch key {
        case .rsa(let key): try key.signature(for: message, padding: .insecurePKCS1v1_5).rawRepresentation
        case .p256(let key): try key.signature(for: message).rawRepresentation
        case .ed25519(let key): try key.signature(for: message)
        }
    }
}
