import Accounts
import Crypto
import Foundation
import ProviderKit

@testable import GatehouseServer
@testable import Tokens

/// An access token as an app's own backend decodes it.
struct DecodedToken {
    let header: JSONValue
    let claims: JSONValue
    let text: String

    init(_ text: String) throws {
        self.text = text
        let parts = text.split(separator: ".").map(String.init)
        guard parts.count == 3 else { throw Malformed() }
        header = try Self.json(parts[0])
        claims = try Self.json(parts[1])
    }

    /// Whether the published key set contains the key with this token's `kid`, and the signature is valid under that
    /// key.
    func isSigned(byKeysOf server: TestServer, publishedAs document: [UInt8], for application: Accounts.Application)
        async throws -> Bool
    {
        guard let jws = CompactJWS(text), let kid = JWTHeader.kid(of: jws.header),
            let key = try await server.backend.keys.key(kid, for: .accessTokens, of: application.id)
        else { return false }
        let published = String(decoding: document, as: UTF8.self)
        return published.contains(key.publicKey.json) && kid == header["kid"].string
            && key.isValid(jws.signature, for: jws.signingInput)
    }

    /// Whether the signature is valid under this published ES256 key.
    func isSigned(by key: JSONValue) throws -> Bool {
        guard let jws = CompactJWS(text), let x = Base64URL.decode(Array((key["x"].string ?? "").utf8)),
            let y = Base64URL.decode(Array((key["y"].string ?? "").utf8))
        else { return false }
        let publicKey = try P256.Signing.PublicKey(rawRepresentation: x + y)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: jws.signature)
        return publicKey.isValidSignature(signature, for: Array(jws.signingInput))
    }

    /// Waits for the end of the token's lifetime, because the server process has no manual clock.
    func waitUntilExpired() async throws {
        guard let expiry = claims["exp"].integer else { throw Malformed() }
        try await Task.sleep(for: .seconds(Double(expiry) - Date().timeIntervalSince1970 + 0.05))
    }

    private static func json(_ part: String) throws -> JSONValue {
        guard let bytes = Base64URL.decode(Array(part.utf8)) else { throw Malformed() }
        return try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    }

    private struct Malformed: Error {}
}

extension TestServer {
    /// Signs the claims of a token of `demo` with these changes.
    func hint(
        naming changes: [String: JSONValue], like token: String, as kind: JWTKind = .identityToken
    ) async throws -> String {
        let claims = (try DecodedToken(token).claims.object ?? [:]).merging(changes) { $1 }
        return try await ApplicationJWTCodec(keys: backend.keys).sign(
            Array(JSONEncoder().encode(claims)), as: kind, for: application())
    }

    /// Removes the keys that ID tokens are signed with, as if they had been retired long ago.
    func forgetIdentityKeys() async throws {
        try await execute("DELETE FROM identity_keys")
        try await backend.keys.reloadAll()
    }
}
