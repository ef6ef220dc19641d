import Foundation
import GatehouseTesting
import ProviderKit

/// A custom-token provider whose tokens the tests sign.
///
/// The tokens are valid from an hour ago for three days, because tests move clocks.
struct Partner: Sendable {
    private let authority: TestAuthority

    init() throws {
        authority = try TestAuthority()
    }

    /// The entry under `providers` of the configuration.
    var entry: String {
        """
        custom: { kind: custom-token, issuer: "https://partner.example", audience: demo, \
        jwks: "\(authority.keySetText.replacing("\"", with: "\\\""))", algorithms: [ES256], maximumAge: 4d }
        """
    }

    /// A request body with a new token, because each token is accepted only once.
    func body(of subject: String) throws -> JSONValue {
        let now = Int64(Date().timeIntervalSince1970)
        let token = try authority.token([
            "iss": "https://partner.example", "aud": "demo", "sub": .string(subject), "iat": .integer(now - 3600),
            "exp": .integer(now + 259_200), "jti": .string(UUID().uuidString),
        ])
        return ["token": .string(token)]
    }
}
