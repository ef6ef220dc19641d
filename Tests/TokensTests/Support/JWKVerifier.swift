import Crypto
import CryptoExtras
import Foundation

@testable import Tokens

/// A relying party that knows only the published key set.
struct JWKVerifier: Decodable {
    struct Key: Decodable {
        let kty: String
        let use: String
        let alg: String
        let kid: String
        let crv: String?
        let n: String?
        let e: String?
        let x: String?
        let y: String?
    }

    let keys: [Key]

    init(_ document: [UInt8]) throws {
        self = try JSONDecoder().decode(JWKVerifier.self, from: Data(document))
    }

    func isValid(_ token: String) throws -> Bool {
        let parts = token.split(separator: ".").map(String.init)
        let header = try JSONDecoder().decode([String: String].self, from: Self.bytes(parts[0]))
        guard let key = keys.first(where: { $0.kid == header["kid"] && $0.alg == header["alg"] }) else { return false }
        let message = Data("\(parts[0]).\(parts[1])".utf8)
        return try Self.isValid(Self.bytes(parts[2]), for: message, under: key)
    }

    private static func isValid(_ signature: Data, for message: Data, under key: Key) throws -> Bool {
        switch (key.kty, key.crv) {
        case ("RSA", nil):
            let publicKey = try _RSA.Signing.PublicKey(n: bytes(key.n), e: bytes(key.e))
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return publicKey.isValidSignature(signature, for: message, padding: .insecurePKCS1v1_5)
        case ("EC", "P-256"):
            let publicKey = try P256.Signing.PublicKey(rawRepresentation: bytes(key.x) + bytes(key.y))
            return try publicKey.isValidSignature(.init(rawRepresentation: signature), for: message)
        case ("OKP", "Ed25519"):
            let publicKey = try Curve25519.Signing.PublicKey(rawRepresentation: bytes(key.x))
            return publicKey.isValidSignature(signature, for: message)
        default:
            return false
        }
    }

    /// Decodes with Foundation, independently of the tested code.
    private static func bytes(_ text: String?) -> Data {
        var base64 = (text ?? "").replacing("-", with: "+").replacing("_", with: "/")
        while !base64.utf8.count.isMultiple(of: 4) { base64 += "=" }
        return Data(base64Encoded: base64) ?? Data()
    }
}
