public import ProviderKit

internal import Crypto
public import Foundation
internal import Tokens

/// A way to forge or misuse a signed token (RFC 8725, 2).
public enum TokenAttack: String, Sendable, CaseIterable {
    /// `alg` is `none`, and there is no signature.
    case unsigned
    /// The signature is an HMAC with the public key as its secret.
    case keyConfusion
    /// The token is signed with another key, but has the same `kid`.
    case foreignKey
    /// The token is signed with another key, which its header contains.
    case embeddedKey
    /// The claims were changed after signing.
    case changedClaims
    /// The end of the signature is missing.
    case cutSignature
    /// The header requires an unknown extension (RFC 7515, 4.1.11).
    case unknownExtension
    /// `exp` was yesterday.
    case expired
    /// There is no `exp`.
    case withoutExpiry
    /// `nbf` is tomorrow.
    case notYetValid
    /// `iss` is another issuer.
    case otherIssuer
    /// `aud` is another audience.
    case otherAudience
}

extension TestAuthority {
    /// Creates a token with valid claims that must be refused because of the attack.
    public func token(_ claims: [String: JSONValue], under attack: TokenAttack, now: Date) throws -> String {
        let now = Int64(now.timeIntervalSince1970)
        switch attack {
        case .unsigned: return Self.part(["alg": "none", "typ": "JWT"]) + "." + Self.part(claims) + "."
        case .keyConfusion:
            let message = Self.part(["alg": "HS256", "kid": .string(keyID)]) + "." + Self.part(claims)
            let secret = SymmetricKey(data: Data((publicKeyPEM.isEmpty ? keySetText : publicKeyPEM).utf8))
            let code = HMAC<SHA256>.authenticationCode(for: Data(message.utf8), using: secret)
            return message + "." + Base64URL.encode(Data(code))
        case .foreignKey: return try TestAuthority(algorithm, keyID: keyID).token(claims)
        case .embeddedKey:
            let stranger = try TestAuthority(algorithm, keyID: "stranger")
            return try stranger.token(claims, header: ["jwk": stranger.publicKey])
        case .changedClaims:
            let parts = try token(claims).split(separator: ".")
            return "\(parts[0]).\(Self.part(claims.merging(["changed": true]) { $1 })).\(parts[2])"
        case .cutSignature: return String(try token(claims).dropLast(8))
        case .unknownExtension: return try token(claims, header: ["crit": ["unheard-of"], "unheard-of": true])
        case .expired: return try token(claims, with: ["exp": .integer(now - 86_400), "iat": .integer(now - 86_460)])
        case .withoutExpiry: return try token(claims.filter { $0.key != "exp" })
        case .notYetValid: return try token(claims, with: ["nbf": .integer(now + 86_400)])
        case .otherIssuer: return try token(claims, with: ["iss": "https://stranger.example"])
        case .otherAudience: return try token(claims, with: ["aud": "a-stranger"])
        }
    }

    /// Creates one token for each attack, with the attack's name.
    public func attacks(on claims: [String: JSONValue], now: Date) throws -> [(name: String, token: String)] {
        try TokenAttack.allCases.map { ($0.rawValue, try token(claims, under: $0, now: now)) }
    }

    private func token(_ claims: [String: JSONValue], with changes: [String: JSONValue]) throws -> String {
        try token(claims.merging(changes) { $1 })
    }
}
