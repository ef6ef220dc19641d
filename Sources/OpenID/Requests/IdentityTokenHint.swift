internal import Accounts
internal import Foundation
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

    /// The claims of an ID token of the application, also of one that has expired; `nil` if its key is no longer known.
    ///
    /// Whether the key is known or not, the token must name an issuer of the application, and `client` if there is one.
    /// - Throws: `AccountsError.invalidToken`.
    static func verified(
        _ token: String, of client: String?, by jwts: any ApplicationJWTs, at issuer: Issuer
    ) async throws -> IdentityTokenHint? {
        let verified: IdentityTokenHint? = try await jwts.claims(of: token, as: .identityToken, for: issuer.application)
        guard let claims = verified ?? Self(unverified: token), issuer.urls.containsBytes(of: claims.issuer),
            client?.hasSameBytes(as: claims.clientID) ?? true
        else { throw AccountsError.invalidToken }
        return verified
    }

    private init?(unverified token: String) {
        guard let payload = Data(payloadOfUnverified: token), (try? JSONText.check(Array(payload))) != nil,
            let claims = try? JSONDecoder().decode(Self.self, from: payload)
        else { return nil }
        self = claims
    }
}
