import Crypto
import CryptoExtras
import Foundation

@testable import Tokens

/// A signing key of another issuer, of which the server knows only the public half.
struct IssuerKey: Sendable {
    var kid: String
    let algorithm: String
    /// The members of the public key, without `kid`, `alg` and `use`.
    let members: [String: String]
    let pem: String
    let sign: @Sendable (Data) throws -> [UInt8]

    func jwk(_ more: [String: String] = [:], hasKid: Bool = true) -> String {
        var all = members.merging(more) { $1 }
        if hasKid { all["kid"] = kid }
        return "{" + all.sorted { $0.key < $1.key }.map { #""\#($0.key)":"\#($0.value)""# }.joined(separator: ",") + "}"
    }

    func named(_ kid: String) -> IssuerKey {
        var key = self
        key.kid = kid
        return key
    }

    static func set(_ jwks: String...) -> String { #"{"keys":[\#(jwks.joined(separator: ","))]}"# }

    // The key is generated once, because generating an RSA key is slow.
    static let rs256 = try? rsa(kid: "rs", algorithm: "RS256")
    static let ps256 = try? rsa(kid: "ps", algorithm: "PS256")
    static let es256 = p256(kid: "es")
    static let edDSA = ed25519(kid: "ed")
    static let es384: IssuerKey = {
        let key = P384.Signing.PrivateKey()
        return IssuerKey(
            kid: "es384", algorithm: "ES384", members: point("P-384", key.publicKey.rawRepresentation),
            pem: key.publicKey.pemRepresentation,
            sign: { Array(try key.signature(for: $0).rawRepresentation) })
    }()
    static let es512: IssuerKey = {
        let key = P521.Signing.PrivateKey()
        return IssuerKey(
            kid: "es512", algorithm: "ES512", members: point("P-521", key.publicKey.rawRepresentation),
            pem: key.publicKey.pemRepresentation,
            sign: { Array(try key.signature(for: $0).rawRepresentation) })
    }()

    static func rsa(
        kid: String, algorithm: String, size: _RSA.Signing.KeySize = .bits2048
    ) throws -> IssuerKey {
        let key = try _RSA.Signing.PrivateKey(keySize: size)
        let primitives = try key.publicKey.getKeyPrimitives()
        return IssuerKey(
            kid: kid, algorithm: algorithm,
            members: [
                "kty": "RSA", "n": Base64URL.encode(primitives.modulus),
                "e": Base64URL.encode(primitives.publicExponent),
            ],
            pem: key.publicKey.pemRepresentation,
            sign: { message in
                let padding: _RSA.Signing.Padding = algorithm.hasPrefix("PS") ? .PSS : .insecurePKCS1v1_5
                return Array(try key.signature(for: message, padding: padding).rawRepresentation)
            })
    }

    static func p256(kid: String) -> IssuerKey {
        let key = P256.Signing.PrivateKey()
        return IssuerKey(
            kid: kid, algorithm: "ES256", members: point("P-256", key.publicKey.rawRepresentation),
            pem: key.publicKey.pemRepresentation,
            sign: { Array(try key.signature(for: $0).rawRepresentation) })
    }

    static func ed25519(kid: String) -> IssuerKey {
        let key = Curve25519.Signing.PrivateKey()
        return IssuerKey(
            kid: kid, algorithm: "EdDSA",
            members: ["kty": "OKP", "crv": "Ed25519", "x": Base64URL.encode(key.publicKey.rawRepresentation)],
            pem: key.publicKey.pemRepresentation,
            sign: { Array(try key.signature(for: $0)) })
    }

    private static func point(_ curve: String, _ bytes: Data) -> [String: String] {
        let half = bytes.count / 2
        return [
            "kty": "EC", "crv": curve, "x": Base64URL.encode(bytes.prefix(half)),
            "y": Base64URL.encode(bytes.suffix(half)),
        ]
    }
}
