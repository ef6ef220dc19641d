internal import Accounts
internal import ProviderKit

/// The ID token by which a client names an account and a session (OpenID Connect Core, 3.1.2.1).
struct IdentityTokenHint: Decodable, Sendable {
    /// The issuer.
    private let iss: String
    private let aud: String
    private let sub: String
    private let sid: String?

    var clientID: String { aud }
    var subject: String { sub }
    var session: String? { sid }

    /// The claims of an ID token of the issuer, also of one that has expired; `nil` if its key is no longer known.
    /// - Throws: `AccountsError.invalidToken`.
    static func verified(
        _ token: String, by jwts: any ApplicationJWTs, in application: Application
    ) async throws -> IdentityTokenHint? {
        let claims: IdentityTokenHint? = try await jwts.claims(of: token, as: .identityToken, for: application)
        guard claims?.iss.hasSameBytes(as: application.issuer) ?? true else { throw AccountsError.invalidToken }
        return claims
    }
}
