package import Foundation

/// Rotates refresh tokens.
package protocol RefreshStore: Sendable {
    /// Runs as one statement, which also ends the session and audits it when a token is reused.
    func rotate(_ rotation: Rotation, application: Application.ID) async throws -> RefreshOutcome
}

/// Lists sessions and finds one by its refresh token.
package protocol SessionStore: Sendable {
    /// The account's live sessions, the newest first.
    func sessions(of uid: UUID, application: Application.ID) async throws -> [ListedSession]

    /// Ends the session of a refresh token if it is a session of this account.
    func endSession(
        ofRefreshToken hash: [UInt8], of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws
}

/// Ends sessions.
package protocol SessionEndStore: Sendable {
    /// Ends live sessions of the account and notifies every replica.
    /// - Returns: how many sessions ended.
    @discardableResult
    func endSessions(
        _ selection: SessionSelection, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws -> Int
}

/// Records which account a guest's session led to, so that a repeated call gets the same answer.
package protocol GuestSuccessorStore: Sendable {
    /// The account that a guest moved to or was upgraded to less than a minute ago.
    func successor(ofGuest session: UUID, application: Application.ID) async throws -> UUID?

    /// Records where the guest of an ended session moved to.
    func note(successor uid: UUID, ofGuest session: UUID, application: Application.ID) async throws
}
