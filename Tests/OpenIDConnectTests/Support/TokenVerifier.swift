import Foundation
import ProviderKit

/// The verifier that these tests run with.
func tokenVerifier(http: any HTTPFetching, now: @escaping @Sendable () -> Date) -> any TokenVerifying {
    DecodingVerifier(now: now)
}

/// Takes every signature for right; the rules count.
private struct DecodingVerifier: TokenVerifying {
    let now: @Sendable () -> Date

    func verify(_ token: String, by rules: TokenRules) throws -> TokenClaims {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = json(parts[0]), let all = json(parts[1])?.object else {
            throw ProviderError.refused
        }
        let claims = TokenClaims(all)
        let issuers = rules.issuers.map { $0.replacing("{tenantid}", with: claims["tid"].string ?? "?") }
        guard case .published = rules.keys,
            let algorithm = header["alg"].string.flatMap({ TokenRules.Algorithm(rawValue: $0) }),
            rules.algorithms.contains(algorithm), let issuer = claims.issuer, issuers.contains(issuer),
            !Set(claims.audiences).isDisjoint(with: rules.audiences), let expiry = claims.expiry, expiry > now()
        else { throw ProviderError.refused }
        return claims
    }

    func check(_ keys: TokenKeys) {}

    private func json(_ part: Substring) -> JSONValue? {
        Data(base64URL: part).flatMap { try? JSONDecoder().decode(JSONValue.self, from: $0) }
    }
}
