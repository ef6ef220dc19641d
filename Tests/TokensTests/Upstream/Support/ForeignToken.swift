import Foundation
import ProviderKit

@testable import Tokens

/// Tokens of another issuer, valid unless a test changes them.
enum ForeignToken {
    static let now = 1_800_000_000
    static let issuer = "https://issuer.example"
    static let audience = "client"
    static let url = "https://issuer.example/keys"

    /// Returns claims as JSON text, so that a test can also write JSON that no encoder produces.
    static func claims(_ more: [String: String?] = [:]) -> String {
        var claims: [String: String?] = [
            "iss": "\"\(issuer)\"", "aud": "\"\(audience)\"", "sub": "\"me\"", "iat": "\(now - 10)",
            "exp": "\(now + 300)",
        ]
        claims.merge(more) { $1 }
        let members = claims.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{\(members.joined(separator: ","))}"
    }

    static func header(_ key: IssuerKey, _ more: [String: String?] = [:]) -> String {
        var header: [String: String?] = ["alg": "\"\(key.algorithm)\"", "kid": "\"\(key.kid)\""]
        header.merge(more) { $1 }
        let members = header.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{\(members.joined(separator: ","))}"
    }

    static func make(_ key: IssuerKey, header: String? = nil, claims: String = claims()) throws -> String {
        let input = encoded(header ?? self.header(key)) + "." + encoded(claims)
        return input + "." + Base64URL.encode(try key.sign(Data(input.utf8)))
    }

    static func encoded(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }

    static func rules(
        _ keys: TokenKeys = .published(url: url),
        _ algorithms: Set<TokenRules.Algorithm> = Set(TokenRules.Algorithm.allCases)
    ) -> TokenRules {
        TokenRules(keys: keys, algorithms: algorithms, issuers: [issuer], audiences: [audience])
    }
}
