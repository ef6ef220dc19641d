package import Accounts
internal import Foundation
internal import ProviderKit

/// Who may answer sign-ins by QR code: bearers of the REST interface, and clients' tokens with the scope `qr`, as long
/// as the client may have it.
package struct QRBearers: Sendable {
    let bearers: BearerAuthentication
    let directory: ClientDirectory
    let store: any QRCodeStore
    let jwts: any ApplicationJWTs
    let revocations: any Revocations
    let time: any TimeSource

    /// The account and the session of a token.
    ///
    /// The statements that read codes check that the session is neither a guest's nor borrowed.
    /// - Throws: `AccountsError.invalidToken`, `.expiredToken` or `.insufficientScope`.
    package func principal(presenting text: String, at issuer: Issuer) async throws -> Principal {
        do {
            return try await bearers.principal(presenting: text, in: issuer.application)
        } catch AccountsError.insufficientScope {
            return try await principal(ofClientToken: text, at: issuer)
        } catch AccountsError.invalidToken {
            // Apps request another token at once only if the response says that this one has expired.
            let token: ClientAccessToken? = try? await jwts.claims(
                of: text, as: .accessToken, for: issuer.application)
            guard let token, token.expiresAt <= Int(time.now().timeIntervalSince1970) else {
                throw AccountsError.invalidToken
            }
            throw AccountsError.expiredToken
        }
    }

    private func principal(ofClientToken text: String, at issuer: Issuer) async throws -> Principal {
        let token: ClientAccessToken
        do {
            token = try await ClientAccessToken.verified(text, of: issuer, by: jwts, at: time.now())
        } catch is OAuthError {
            throw AccountsError.invalidToken
        }
        // A token for a resource would let that resource answer in the person's name.
        guard token.scopes.contains(where: StandardScope.qrNames.containsBytes),
            token.audience.contains(where: issuer.urls.containsBytes)
        else { throw AccountsError.insufficientScope }
        guard let session = token.sessionID, let client = try await directory.client(of: token, at: issuer) else {
            throw AccountsError.invalidToken
        }
        guard !issuer.settings.grantable(to: client).isDisjoint(with: StandardScope.qrNames) else {
            throw AccountsError.insufficientScope
        }
        let part = SessionToken(sessionID: session, issuedAt: token.issuedAt, generation: token.generation ?? 0)
        guard try await !revocations.isRevoked(part, at: time.now(), application: issuer.application.id),
            let principal = try await store.principal(
                ofClientSession: session, client: token.clientID, in: issuer.application)
        else { throw AccountsError.invalidToken }
        return principal
    }
}
