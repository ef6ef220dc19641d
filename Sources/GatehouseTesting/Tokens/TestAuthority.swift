public import ProviderKit

internal import Crypto
internal import CryptoExtras
public import Foundation

/// Somebody who signs tokens: makes a key, publishes it, and mints what a test asks for.
public struct TestAuthority: Sendable {
    private enum Key: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    /// `kid` of the key.
    public let keyID: String
    /// What tokens are signed with.
    public let algorithm: TokenRules.Algorithm
    private let key: Key

    /// A new key; without an algorithm, of ES256, which is quickly made.
    /// - Throws: `UnreadableKeys` for another algorithm than RS256, ES256 and EdDSA.
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

    /// The key as others see it (RFC 7517, 4).
    public var publicKey: JSONValue {
        var members: [String: JSONValue] = [
            "kid": .string(keyID), "alg": .string(algorithm.rawValue), "use": "sig",
        ]
        switch key {
        case .rsa(let key):
            let numbers = try? key.publicKey.getKeyPrimitives()
            members["kty"] = "RSA"
            members["n"] = .string(Base64Text.encode(numbers?.modulus ?? Data()))
            members["e"] = .string(Base64Text.encode(numbers?.publicExponent ?? Data()))
        case .p256(let key):
            let point = key.publicKey.rawRepresentation
            members["kty"] = "EC"
            members["crv"] = "P-256"
            members["x"] = .string(Base64Text.encode(point.prefix(32)))
            members["y"] = .string(Base64Text.encode(point.suffix(32)))
        case .ed25519(let key):
            members["kty"] = "OKP"
            members["crv"] = "Ed25519"
            members["x"] = .string(Base64Text.encode(key.publicKey.rawRepresentation))
        }
        return .object(members)
    }

    /// The key in a set of one (RFC 7517, 5).
    public var keySet: JSONValue { ["keys": [publicKey]] }

    /// The set as a text, for settings.
    public var keySetText: String { keySet.text }

    /// The public key in PEM; empty for EdDSA, which has none here.
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

    /// A compact JWS (RFC 7515, 3.1); `header` is added to `alg`, `kid` and `typ`, and wins.
    public func token(_ claims: [String: JSONValue], header: [String: JSONValue] = [:]) throws -> String {
        let standard: [String: JSONValue] = [
            "alg": .string(algorithm.rawValue), "kid": .string(keyID), "typ": "JWT",
        ]
        return try signed(header: standard.merging(header) { $1 }, payload: Data(JSONValue.object(claims).text.utf8))
    }

    /// A compact JWS of a payload that may be anything, JSON or not.
    public func token(payload: Data) throws -> String {
        try signed(header: ["alg": .string(algorithm.rawValue), "kid": .string(keyID)], payload: payload)
    }

    private func signed(header: [String: JSONValue], payload: Data) throws -> String {
        let message = Self.part(header) + "." + Base64Text.encode(payload)
        return message + "." + Base64Text.encode(try signature(of: Data(message.utf8)))
    }

    static func part(_ members: [String: JSONValue]) -> String {
        Base64Text.encode(Data(JSONValue.object(members).text.utf8))
    }

    private func signature(of message: Data) throws -> Data {
        switch key {
        case .rsa(let key): try key.signature(for: message, padding: .insecurePKCS1v1_5).rawRepresentation
        case .p256(let key): try key.signature(for: message).rawRepresentation
        case .ed25519(let key): try key.signature(for: message)
        }
    }
}

extension JSONValue {
    /// The value as JSON, members by name; slashes stay as they are, which YAML can read too.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}

/// Base64url without padding (RFC 7515, 2).
enum Base64Text {
    static func encode(_ data: some DataProtocol) -> String {
        Data(data).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
