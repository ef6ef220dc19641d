import Accounts
import Crypto
import Foundation

/// A public key as a JWK (RFC 7517, RFC 7518 section 6, RFC 8037 section 2).
package struct PublicJWK: Sendable {
    /// The thumbprint (RFC 7638) with SHA-256, in base64url; it is the key's `kid`.
    package let thumbprint: String
    package let json: String

    static func rsa(modulus: Data, exponent: Data) -> PublicJWK {
        PublicJWK(
            required: #""e":"\#(Base64URL.encode(exponent))","kty":"RSA","n":"\#(Base64URL.encode(modulus))""#,
            algorithm: .rs256)
    }

    /// Creates a JWK; `point` is both coordinates of 32 bytes each (RFC 7518 section 6.2.1).
    static func p256(point: Data) -> PublicJWK {
        let x = Base64URL.encode(point.prefix(32))
        let y = Base64URL.encode(point.suffix(32))
        return PublicJWK(required: #""crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)""#, algorithm: .es256)
    }

    static func ed25519(point: Data) -> PublicJWK {
        PublicJWK(required: #""crv":"Ed25519","kty":"OKP","x":"\#(Base64URL.encode(point))""#, algorithm: .edDSA)
    }

    /// Creates a JWK; `required` has exactly the members that RFC 7638 section 3.2 hashes, in its order.
    private init(required: String, algorithm: SigningAlgorithm) {
        let digest = SHA256.hash(data: Array("{\(required)}".utf8))
        thumbprint = Base64URL.encode(Array(digest))
        json = #"{\#(required),"use":"sig","alg":"\#(algorithm.rawValue)","kid":"\#(thumbprint)"}"#
    }
}
