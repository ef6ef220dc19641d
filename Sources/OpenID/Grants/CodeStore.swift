package import Accounts
package import Foundation

/// A code to store for a browser session.
package struct NewCode: Sendable {
    package let hash: [UInt8]
    package let request: ClientRequest
    package let issuer: String
    package let lifetime: Duration
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
    /// How long an installation of an app may stay unused; `nil` for other clients.
    package let instanceIdle: Duration?
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
    /// The session of another account that the installation of an app has had, and that must end.
    package var replaced: (session: UUID, account: UUID)?

    package init(grant: SessionGrant, scope: ClientScope, nonce: String?) {
        (self.grant, self.scope, self.nonce) = (grant, scope, nonce)
    }
}

package enum CodeUseOutcome: Sendable {
    case opened(OpenedClientSession)
    case refused
    /// The code was right, but the client asks for more than its scopes and resources; no session was opened.
    case unsuitable(ClientScope, isBorrowed: Bool)
    /// The code was used some time ago for this session, which is live.
    case replayed(session: UUID, of: UUID)
}

package protocol CodeStore: Sendable {
    /// Consumes a code by one statement, and opens or moves the client's session if everything fits.
    ///
    /// A public client consumes only its own codes.
    func use(_ code: CodeUse, application: Application.ID) async throws -> CodeUseOutcome
}
