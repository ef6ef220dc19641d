package import Accounts
package import Foundation

/// Reads and ends the sessions of clients.
package protocol ClientSessionStore: Sendable {
    /// The account of a live client session; `nil` if either is not live.
    func accountClaims(
        ofSession session: UUID, client: String, application: Application.ID
    ) async throws -> AccountClaims?

    /// Ends a session of the client, by its id or by one of its refresh tokens; does nothing for other sessions.
    func endClientSession(
        _ session: UUID?, orOfRefreshToken hash: [UInt8]?, client: String, issuer: String, application: Application.ID
    ) async throws

    /// The live session of a client's refresh token; `nil` if the token was rotated.
    func clientSession(
        ofRefreshToken hash: [UInt8], unlessRotatedTo successor: [UInt8], issuer: String, application: Application.ID
    ) async throws -> RefreshableSession?
}

/// The session of a refresh token.
package struct RefreshableSession: Sendable {
    package var id, uid: UUID
    package var clientID: String
    package var scopes: [String]
    package var expiresAt: Date

    package init(id: UUID, uid: UUID, clientID: String, scopes: [String], expiresAt: Date) {
        (self.id, self.uid, self.clientID, self.scopes, self.expiresAt) = (id, uid, clientID, scopes, expiresAt)
    }
}
