internal import Accounts
internal import ProviderKit

/// The ID token by which a client names an account and a session (OpenID Connect Core, 3.1.2.1).
struct IdentityTokenHint: Decodable, Sendable {
    let issuer: String
    let clientID, subject: String
    let session: String?

    private enum CodingKeys: String, CodingKey {
        case issuer = "iss"
        case clientID = "aud"
        case subject = "sub"
        case session = "sid"
    }

    /// The claims of an ID token of the issuer, also of one that has expired; `nil` if its key is no longer known.
    /// - Throws: `AccountsError.invalidToken`.
    static func verified(
        _ token: String, by jwts: any ApplicationJWTs, at issuer: Issuer
    ) async throws -> IdentityTokenHint? {
        let claims: IdentityTokenHint? = try await jwts.claims(of: token, as: .identityToken, for: issuer.application)
        guard let claims else { return nil }
        guard issuer.urls.containsBytes(of: claims.issuer) else { throw AccountsError.invalidToken }
        return claims
    }
}
