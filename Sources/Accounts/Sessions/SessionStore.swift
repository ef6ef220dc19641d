package import Foundation

package protocol RefreshStore: Sendable {
    /// Rotates a token by one statement; if the token is reused, ends its session and records that.
    func rotate(_ rotation: Rotation, application: Application.ID) async throws -> RefreshOutcome
}

package protocol SessionStore: Sendable {
    /// The account's live sessions, the newest first.
    func sessions(of uid: UUID, application: Application.ID) async throws -> [ListedSession]
    /// Ends the session of a refresh token if the session belongs to this account.
    func endSession(ofRefreshToken hash: [UInt8], of uid: UUID, because reason: SessionEnd, application: Application.ID)
        async throws
    /// The session of a refresh token that has not expired; `nil` if there is none, or it has ended.
    ///
    /// A token that was rotated is found too, because presenting it to be rotated renews the session or ends it.
    func liveSession(
        ofRefreshToken hash: [UInt8], application: Application.ID
    ) async throws -> (id: UUID, uid: UUID)?
}

package protocol SessionEndStore: Sendable {
    /// Ends live sessions of the account and notifies every replica.
    func endSessions(
        _ selection: SessionSelection, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws

    /// Ends one session of the account.
    /// - Returns: `false` if the session had ended or does not belong to the account.
    func endSession(
        _ session: UUID, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws -> Bool
}

/// Records the account to which a guest was upgraded or switched, so that a repeated call gets the same response.
package protocol GuestSuccessorStore: Sendable {
    /// The account to which the guest was upgraded or switched less than a minute ago.
    func successor(ofGuest session: UUID, application: Application.ID) async throws -> UUID?
    /// Records the account to which the guest of an ended session was switched.
    func note(successor uid: UUID, ofGuest session: UUID, application: Application.ID) async throws
}
