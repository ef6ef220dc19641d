package import Foundation

/// Sessions that were opened, and their refresh tokens.
package protocol SessionStore: Sendable {
    /// One statement; a reuse ends the session and is audited in it.
    func rotate(_ rotation: Rotation, application: Application.ID) async throws -> RefreshOutcome

    /// Live ones, the newest first.
    func sessions(of uid: UUID, application: Application.ID) async throws -> [SessionListing]

    /// Keeps a live session of the account from being ended until the transaction is over.
    ///
    /// - Returns: `false` when it has ended; the account is to be locked first.
    func lockSession(_ session: UUID, of uid: UUID, application: Application.ID) async throws -> Bool

    /// Ends live sessions of the account and tells every replica.
    /// - Returns: how many there were.
    func endSessions(
        _ selection: SessionSelection, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws -> Int

    /// Ends the session that a refresh token belongs to, where that is the account's.
    func endSession(
        ofRefreshToken hash: [UInt8], of uid: UUID, because reason: SessionEnd, application: Application.ID)
        async throws

    /// The account that a guest went over to, or became permanent in, less than a minute ago.
    func successor(ofGuest session: UUID, application: Application.ID) async throws -> UUID?
}
