internal import Crypto
internal import Foundation
package import ProviderKit

/// Signs tokens with ES256, with private keys from the settings of providers.
package struct UpstreamTokenSigner: TokenSigning {
    private struct Header: Encodable {
        let alg = "ES256"
        let kid: String
        let typ = "JWT"
    }

    package init() {}

    package func sign(_ claims: [String: JSONValue], key: String, keyID: String) throws -> String {
        // The library also accepts SEC 1's "EC PRIVATE KEY", which no service issues.
        guard key.contains("-----BEGIN PRIVATE KEY-----"),
            let signingKey = try? P256.Signing.PrivateKey(pemRepresentation: key)
        else { throw UnreadableKeys(reason: "are not a P-256 private key in PEM (PKCS #8)") }
        let encoder = JSONEncoder.stable
        let header = Base64URL.encode(try encoder.encode(Header(kid: keyID)))
        let input = "\(header).\(Base64URL.encode(try encoder.encode(claims)))"
        return "\(input).\(Base64URL.encode(try signingKey.signature(for: Data(input.utf8)).rawRepresentation))"
    }
}
