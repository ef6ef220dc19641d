internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import ProviderKit

/// The keys of another issuer, either published or configured.
struct UpstreamKeySet: Sendable {
    /// The largest number of keys that are read from one set.
    private static let limit = 100

    private let keys: [UpstreamKey]
    /// Whether `kid` is ignored, as for a key in PEM, which has no id and is used for all tokens.
    private let ignoresIDs: Bool

    /// The key with the token's `kid`; for a token without `kid`, the only key that fits.
    func key(for token: UpstreamToken) -> UpstreamKey? {
        let fitting = keys.filter { $0.fits(token.algorithm) }
        let chosen = fitting.filter { key in
            guard !ignoresIDs, let kid = token.kid else { return true }
            return key.kid?.hasSameBytes(as: kid) == true
        }
        return chosen.count == 1 ? chosen.first : nil
    }

    func hasKey(for algorithms: Set<TokenRules.Algorithm>) -> Bool {
        keys.contains { key in algorithms.contains(where: key.fits) }
    }

    /// Parses a published JWK Set and leaves out keys that cannot be used.
    /// - Returns: `nil` if the text is not a JWK Set.
    init?(published json: [UInt8]) {
        guard let list = JSONValue(json: json)?["keys"].array else { return nil }
        keys = list.prefix(Self.limit).compactMap { UpstreamKey(jwk: $0) }
        ignoresIDs = false
    }

    /// Parses a JWK Set or a single JWK from settings.
    /// - Throws: `UnreadableKeys`.
    init(set text: String) throws {
        guard let json = JSONValue(json: Array(text.utf8)), json.object != nil else {
            throw UnreadableKeys(reason: "are not JSON: a JWK Set, or one JWK, is expected")
        }
        let list = json["keys"].array ?? (json["kty"].isNull ? nil : [json])
        guard let list else {
            throw UnreadableKeys(reason: "are neither a JWK Set (no \"keys\") nor a JWK (no \"kty\")")
        }
        guard list.allSatisfy({ $0["d"].isNull }) else {
            throw UnreadableKeys(reason: "contain a private key; only public ones belong here")
        }
        keys = list.prefix(Self.limit).compactMap { UpstreamKey(jwk: $0) }
        ignoresIDs = false
        guard keys.isEmpty else { return }
        throw UnreadableKeys(
            reason: "have none for signatures: RSA from 2048 bits, P-256, P-384, P-521 or Ed25519 is expected")
    }

    /// Parses a public key in PEM (RFC 7468, 13) from settings.
    /// - Throws: `UnreadableKeys`.
    init(pem text: String) throws {
        let label = text.firstMatch(of: /-----BEGIN ([A-Z0-9 ]+)-----/).map { String($0.1) }
        switch label {
        case nil: throw UnreadableKeys(reason: "are not in PEM: -----BEGIN PUBLIC KEY----- is expected")
        case .some(let label) where label.hasSuffix("PRIVATE KEY"):
            throw UnreadableKeys(reason: "are a private key; only the public one belongs here")
        case "PUBLIC KEY", "RSA PUBLIC KEY": break
        case .some: throw UnreadableKeys(reason: "are not a public key: -----BEGIN PUBLIC KEY----- is expected")
        }
        guard let material = Self.material(pem: text) else {
            throw UnreadableKeys(
                reason: "can't be read: RSA from 2048 bits, P-256, P-384, P-521 or Ed25519 is expected")
        }
        keys = [UpstreamKey(material)]
        ignoresIDs = true
    }

    private static func material(pem: String) -> UpstreamKey.Material? {
        if let key = try? P256.Signing.PublicKey(pemRepresentation: pem) { return .p256(key) }
        if let key = try? P384.Signing.PublicKey(pemRepresentation: pem) { return .p384(key) }
        if let key = try? P521.Signing.PublicKey(pemRepresentation: pem) { return .p521(key) }
        if let key = try? Curve25519.Signing.PublicKey(pemRepresentation: pem) { return .ed25519(key) }
        return (try? _RSA.Signing.PublicKey(pemRepresentation: pem)).flatMap(UpstreamKey.rsa)
    }
}
