package import Accounts
package import Foundation

/// A code to store for a browser session.
package struct NewCode: Sendable {
    package let hash: [UInt8]
    package let request: ClientRequest
    package let issuer: String
    package let lifetime: Duration

    package init(hash: [UInt8], request: ClientRequest, issuer: String, lifetime: Duration) {
        (self.hash, self.request, self.issuer, self.lifetime) = (hash, request, issuer, lifetime)
    }
}

/// A code as a client presents it, with the tokens to open for it.
package struct CodeUse: Sendable {
    package let code: [UInt8]
    package let client: OAuthClient
    package let issuer, redirectURI: String
    /// The challenge of the presented verifier.
    package let codeChallenge: String?
    package let refreshToken: OpaqueToken
    package let refreshLifetime, sessionLifetime: Duration
    package let target: TokenTarget
    package let session = UUID.v7()
    /// How long a second presentation counts as a duplicate request.
    package let tolerance: Duration
}

/// The session of a client that a code was redeemed for.
package struct OpenedClientSession: Sendable {
    package var grant: SessionGrant
    package var scope: ClientScope
    package var nonce: String?
    package var account: AccountClaims

    package init(grant: SessionGrant, scope: ClientScope, nonce: String?, account: AccountClaims) {
        (self.grant, self.scope, self.nonce, self.account) = (grant, scope, nonce, account)
    }
}

/// What clients may learn about an account.
package struct AccountClaims: Sendable, Equatable {
    package var uid: UUID
    package var name, locale, email, phone: String?
    package var updatedAt: Date
    /// The accounts that were merged into it; userinfo alone needs them.
    package var absorbed: [UUID] = []

    package init(uid: UUID, name: String?, locale: String?, email: String?, phone: String?, updatedAt: Date) {
        (self.uid, self.name, self.locale, self.email, self.phone) = (uid, name, locale, email, phone)
        self.updatedAt = updatedAt
    }
}

package enum CodeUseOutcome: Sendable {
    case opened(OpenedClientSession)
    case refused
    /// The code was right, but the client asks for more than its scopes and resources; no session was opened.
    case unsuitable(scopes: [String], resources: [String])
    /// The code was used some time ago for this session, which is live.
    case replayed(session: UUID, of: UUID)
}

package protocol CodeStore: Sendable {
    /// Consumes a code by one statement, and opens or moves the client's session if everything fits.
    ///
    /// A public client consumes only its own codes.
    func use(_ code: CodeUse, application: Application.ID) async throws -> CodeUseOutcome
}

/// The account and client of a live session.
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
