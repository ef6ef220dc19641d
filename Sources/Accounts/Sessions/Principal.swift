package import Foundation

/// Whoever a valid access token speaks for.
package struct Principal: Sendable {
    package let application: Application
    package let uid: UUID
    package let sessionID: UUID
    package let authenticatedAt: Int
    package let provider: String
    package let providerUid: String
    /// The account of this caller, a guest whose token a link has made invalid.
    package var successor: UUID?
}

/// Tells whether sessions have ended or were renewed, on this replica or another.
package protocol Revocations: Sendable {
    /// Whether the token's session has ended, or has been renewed since the token was issued.
    ///
    /// From memory while revocations are heard, else from the session's row; `time` is now.
    /// - Throws: `AccountsError.unavailable` when neither can tell.
    func isRevoked(_ token: AccessTokenClaims, at time: Date, application: Application.ID) async throws -> Bool
}

/// Checks the bearer of a request.
package struct BearerAuthentication: Sendable {
    let access: any AccessTokens
    let revocations: any Revocations
    typealias Store = GuestSuccessorStore & ProfileStore

    let store: any Store
    let time: any TimeSource

    /// For a minute a guest who became permanent or went over to another account may repeat the call that did it, where
    /// `admittingFormerGuests` is set.
    /// - Throws: `AccountsError.invalidToken`, also for a token whose session has ended or was renewed since.
    package func principal(
        presenting token: String, in application: Application, admittingFormerGuests: Bool = false
    ) async throws -> Principal {
        let claims = try await access.verify(token, for: application)
        var principal = Principal(
            application: application, uid: claims.uid, sessionID: claims.sessionID,
            authenticatedAt: claims.authenticatedAt, provider: claims.provider, providerUid: claims.providerUid)
        guard try await revocations.isRevoked(claims, at: time.now(), application: application.id) else {
            return principal
        }
        guard admittingFormerGuests,
            let successor = try await store.successor(ofGuest: principal.sessionID, application: application.id)
        else { throw AccountsError.invalidToken }
        principal.successor = successor
        return principal
    }

    /// - Throws: `AccountsError.tokenTooOld` for a caller who authenticated too long ago. A guest, who has nothing to
    ///   authenticate with again, is never asked.
    package func requireRecent(_ principal: Principal) async throws {
        let authentication = Date(timeIntervalSince1970: TimeInterval(principal.authenticatedAt))
        guard !principal.application.policy.isRecent(authentication, now: time.now()), principal.successor == nil else {
            return
        }
        let user = try await store.user(principal.uid, application: principal.application.id)
        guard user?.isAnonymous == true else { throw AccountsError.tokenTooOld }
    }
}
