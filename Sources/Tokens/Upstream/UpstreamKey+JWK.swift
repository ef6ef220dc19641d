internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import ProviderKit

extension UpstreamKey {
    /// Reads a public key from its JWK (RFC 7517, RFC 7518, 6); `nil` for a symmetric, weak or encryption key.
    init?(jwk: JSONValue) {
        guard let members = jwk.object, members["use"] == nil || members["use"] == .string("sig"),
            members["key_ops"] == nil || members["key_ops"]?.array?.contains(.string("verify")) == true,
            let material = Self.material(of: jwk)
        else { return nil }
        // If `kid` or `alg` is present but not a string, the key is unusable; it is not treated as absent.
        switch (members["kid"], members["alg"]) {
        case (nil, nil): self.init(material)
        case (.string(let kid), nil): self.init(material, kid: kid)
        case (nil, .string(let algorithm)): self.init(material, algorithm: algorithm)
        case (.string(let kid), .string(let algorithm)): self.init(material, kid: kid, algorithm: algorithm)
        default: return nil
        }
    }

    private static func material(of jwk: JSONValue) -> Material? {
        switch (word("kty", of: jwk), word("crv", of: jwk)) {
        case ("RSA", _):
            bytes("n", of: jwk).flatMap { modulus in
                bytes("e", of: jwk).flatMap { exponent in
                    (try? _RSA.Signing.PublicKey(n: modulus, e: exponent)).flatMap(rsa)
                }
            }
        case ("EC", "P-256"):
            point(of: jwk, length: 32).flatMap { try? .p256(P256.Signing.PublicKey(rawRepresentation: $0)) }
        case ("EC", "P-384"):
            point(of: jwk, length: 48).flatMap { try? .p384(P384.Signing.PublicKey(rawRepresentation: $0)) }
        case ("EC", "P-521"):
            point(of: jwk, length: 66).flatMap { try? .p521(P521.Signing.PublicKey(rawRepresentation: $0)) }
        case ("OKP", "Ed25519"):
            bytes("x", of: jwk).flatMap { try? .ed25519(Curve25519.Signing.PublicKey(rawRepresentation: $0)) }
        default: nil
        }
    }

    /// The name of a key type or curve; `nil` if it is longer than any known name.
    private static func word(_ name: String, of jwk: JSONValue) -> String? {
        jwk[name].string.flatMap { $0.utf8.count <= 32 ? $0 : nil }
    }

    /// The coordinates of the point, each in its full length (RFC 7518, 6.2.1.2).
    private static func point(of jwk: JSONValue, length: Int) -> [UInt8]? {
        guard let x = bytes("x", of: jwk), let y = bytes("y", of: jwk), x.count == length, y.count == length else {
            return nil
        }
        return x + y
    }

    private static func bytes(_ name: String, of jwk: JSONValue) -> [UInt8]? {
        guard let text = jwk[name].string, !text.isEmpty, text.utf8.count <= 2048 else { return nil }
        return Base64URL.decode(text.utf8)
    }
}
