internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import ProviderKit

/// The rules of `TokenVerifying` in their plainest form, without a cache, until the server's own are here.
struct StandInVerifier: TokenVerifying {
    let http: any HTTPFetching
    let now: @Sendable () -> Date

    func check(_ keys: TokenKeys) throws {
        switch keys {
        case .published: break
        case .set(let text):
            guard let set = Self.json(Data(text.utf8)), !Self.keys(in: set).isEmpty else {
                throw UnreadableKeys(reason: "are not a JWK Set")
            }
        case .pem(let text):
            guard Self.pemKey(text) != nil else { throw UnreadableKeys(reason: "are not a public key in PEM") }
        }
    }

    func verify(_ token: String, by rules: TokenRules) async throws -> TokenClaims {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.data(parts[0]).flatMap(Self.json), header["crit"].isNull,
            let algorithm = header["alg"].string.flatMap(TokenRules.Algorithm.init),
            rules.algorithms.contains(algorithm),
            let claims = Self.data(parts[1]).flatMap(Self.json)?.object, let signature = Self.data(parts[2])
        else { throw ProviderError.refused }
        let message = Data("\(parts[0]).\(parts[1])".utf8)
        let keys = try await keys(rules.keys).filter { $0.fits(algorithm, header["kid"].string) }
        guard keys.contains(where: { $0.isValid(signature, for: message) }) else { throw ProviderError.refused }
        let token = TokenClaims(claims)
        guard isValid(token, by: rules) else { throw ProviderError.refused }
        return token
    }

    private func isValid(_ token: TokenClaims, by rules: TokenRules) -> Bool {
        guard token.issuer.map(rules.issuers.contains) == true,
            token.audiences.contains(where: rules.audiences.contains),
            token.expiry != nil || (token["exp"].isNull && !rules.requiresExpiry),
            token["nbf"].isNull || token["nbf"].date.map({ $0 <= now() }) == true
        else { return false }
        if let expiry = token.expiry, expiry <= now() { return false }
        if let age = rules.maximumAge?.components.seconds {
            guard let issued = token.issuedAt, now().timeIntervalSince(issued) <= Double(age) else { return false }
        }
        if let life = rules.longestLifetime?.components.seconds {
            guard let issued = token.issuedAt, let expiry = token.expiry,
                expiry.timeIntervalSince(issued) <= Double(life)
            else { return false }
        }
        return true
    }

    private func keys(_ keys: TokenKeys) async throws -> [PublicKey] {
        switch keys {
        case .set(let text): return Self.json(Data(text.utf8)).map(Self.keys) ?? []
        case .pem(let text): return [Self.pemKey(text)].compactMap { $0 }
        case .published(let url):
            let answer = try await http.fetch(.get(url))
            guard answer.isSuccess, let set = answer.json, set["keys"].array != nil else {
                throw ProviderError.unavailable
            }
            return Self.keys(in: set)
        }
    }

    private static func keys(in set: JSONValue) -> [PublicKey] {
        (set["keys"].array ?? [set]).compactMap { PublicKey($0) }
    }

    private static func pemKey(_ text: String) -> PublicKey? {
        if let key = try? P256.Signing.PublicKey(pemRepresentation: text) { return PublicKey(.p256(key)) }
        return (try? _RSA.Signing.PublicKey(pemRepresentation: text)).map { PublicKey(.rsa($0)) }
    }

    static func data(_ text: some StringProtocol) -> Data? {
        let text = String(text)
        guard !text.contains("="), !text.contains("+"), !text.contains("/") else { return nil }
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        while !base64.utf8.count.isMultiple(of: 4) { base64 += "=" }
        return Data(base64Encoded: base64)
    }

    static func json(_ data: Data) -> JSONValue? { try? JSONDecoder().decode(JSONValue.self, from: data) }
}

private struct PublicKey {
    enum Kind {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
    }

    private let kind: Kind
    private let id: String?

    init(_ kind: Kind) {
        self.kind = kind
        id = nil
    }

    init?(_ jwk: JSONValue) {
        func bytes(_ name: String) -> Data { jwk[name].string.flatMap { StandInVerifier.data($0) } ?? Data() }
        id = jwk["kid"].string
        let kind: Kind? =
            switch jwk["kty"].string {
            case "RSA": (try? _RSA.Signing.PublicKey(n: bytes("n"), e: bytes("e"))).map { .rsa($0) }
            case "EC":
                (try? P256.Signing.PublicKey(rawRepresentation: bytes("x") + bytes("y"))).map { .p256($0) }
            case "OKP": (try? Curve25519.Signing.PublicKey(rawRepresentation: bytes("x"))).map { .ed25519($0) }
            default: nil
            }
        guard let kind else { return nil }
        self.kind = kind
    }

    func fits(_ algorithm: TokenRules.Algorithm, _ wanted: String?) -> Bool {
        guard id == nil || wanted == nil || id == wanted else { return false }
        return switch (kind, algorithm) {
        case (.rsa, .rs256), (.p256, .es256), (.ed25519, .edDSA): true
        default: false
        }
    }

    func isValid(_ signature: Data, for message: Data) -> Bool {
        switch kind {
        case .rsa(let key):
            key.isValidSignature(.init(rawRepresentation: signature), for: message, padding: .insecurePKCS1v1_5)
        case .p256(let key):
            (try? P256.Signing.ECDSASignature(rawRepresentation: signature)).map {
                key.isValidSignature($0, for: message)
            } ?? false
        case .ed25519(let key): key.isValidSignature(signature, for: message)
        }
    }
}

/// ES256, as `TokenSigning` says.
struct StandInSigner: TokenSigning {
    func sign(_ claims: [String: JSONValue], key: String, keyID: String) throws -> String {
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: key) else {
            throw UnreadableKeys(reason: "are not a P-256 private key in PEM")
        }
        let message = TestAuthority.part(["alg": "ES256", "kid": .string(keyID)]) + "." + TestAuthority.part(claims)
        return message + "." + Base64Text.encode(try key.signature(for: Data(message.utf8)).rawRepresentation)
    }
}
