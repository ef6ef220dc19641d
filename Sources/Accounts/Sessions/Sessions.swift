package import Foundation
internal import ProviderKit

/// The sessions that a logout ends: the current one, all others, or all.
package enum LogoutScope: String, Sendable, SentChoice { case local, others, global }

package struct Sessions: Sendable {
    typealias Store = SessionStore & SessionEndStore

    let store: any Store
    let opaque: any OpaqueTokens
    let access: any AccessTokens

    package func list(of principal: Principal) async throws -> [ListedSession] {
        try await store.sessions(of: principal.uid, application: principal.application.id)
    }

    /// - Throws: `AccountsError.sessionNotFound` if the session has ended or belongs to another account.
    package func end(_ session: UUID, by principal: Principal) async throws {
        let isEnded = try await store.endSession(
            session, of: principal.uid, because: .revoked, application: principal.application.id)
        guard isEnded else { throw AccountsError.sessionNotFound }
    }

    /// Ends the sessions of the scope.
    ///
    /// With `local`, also ends the session of the refresh token if it belongs to the same account; other scopes ignore the
    /// token.
    package func logout(scope: LogoutScope, refreshToken: String?, by principal: Principal) async throws {
        let application = principal.application.id
        if scope == .local, let token = refreshToken.flatMap(opaque.parse) {
            try await store.endSession(
                ofRefreshToken: token.hash, of: principal.uid, because: .logout, application: application)
        }
        let selection: SessionSelection =
            switch scope {
            case .local: .one(principal.sessionID)
            case .others: .allBut(principal.sessionID)
            case .global: .all
            }
        try await store.endSessions(selection, of: principal.uid, because: .logout, application: application)
    }

    /// Ends the session of a refresh token, for a client whose access token has expired.
    ///
    /// If the former access token names an account, which is not verified, the session must be of that account.
    /// - Throws: `AccountsError.invalidToken` if the refresh token is unknown or expired, or its session has ended.
    package func logout(refreshToken: String, former access: String, in application: Application) async throws {
        guard let token = opaque.parse(refreshToken),
            let session = try await store.liveSession(ofRefreshToken: token.hash, application: application.id),
            self.access.unverifiedAccount(of: access).map({ $0 == session.uid }) ?? true,
            try await store.endSession(
                session.id, of: session.uid, because: .logout, application: application.id)
        else { throw AccountsError.invalidToken }
    }
}

package enum SessionSelection: Sendable {
    case one(UUID)
    case allBut(UUID)
    /// The sessions that these identities opened, or those that they opened after a time.
    case openedBy([UUID], after: Date? = nil)
    /// The sessions of this OpenID client.
    case ofClient(String)
    case all
}
