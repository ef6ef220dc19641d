package import Accounts
package import Foundation

/// Stores the sessions of the console; `home` is the application that has the administrators' accounts.
package protocol ConsoleSessionStore: Sendable {
    /// Stores the cookie of a client session that has just begun.
    func insertConsoleSession(
        _ hash: [UInt8], of session: UUID, uid: UUID, lifetime: Duration, home: Application.ID
    ) async throws

    /// The session of a cookie while the client session behind it is live, and notes its use.
    ///
    /// A session that has been unused for longer than `idle` is returned as such, and its use is not noted.
    func consoleSession(_ hash: [UInt8], idle: Duration, home: Application.ID) async throws -> ConsoleSession?

    /// Moves the console session to a client session of the same account, whose proof is fresh, and to a new cookie, so
    /// that a copy of the former cookie gains nothing by the proof.
    ///
    /// If the client session of the cookie has ended, the cookie stays invalid, because it may be stolen.
    /// - Returns: the former client session; `nil` if the cookie is invalid, or that of another account.
    func moveConsoleSession(
        _ hash: [UInt8], to cookie: [UInt8], of session: UUID, uid: UUID, home: Application.ID
    ) async throws -> UUID?

    /// Keeps a sealed form for some time.
    func keepTyped(_ sealed: [UInt8], for time: Duration, in hash: [UInt8], home: Application.ID) async throws

    /// The sealed form that was kept, even if its time is over; `nil` if there is none.
    func typed(in hash: [UInt8], home: Application.ID) async throws -> [UInt8]?

    /// Deletes a sealed form that was kept.
    /// - Returns: `false` if it was deleted before, or its time is over.
    func takeTyped(_ sealed: [UInt8], in hash: [UInt8], home: Application.ID) async throws -> Bool

    /// - Returns: the client session behind it, and its account; `nil` if there is no such cookie.
    @discardableResult
    func deleteConsoleSession(_ hash: [UInt8], home: Application.ID) async throws -> (session: UUID, uid: UUID)?

    /// The identities of an administrator's account, the oldest first, and whether all grants that count in sessions of
    /// `prover` count in theirs.
    func consoleIdentities(of uid: UUID, prover: UUID, home: Application.ID) async throws -> [ConsoleIdentity]

    /// Lets the grants that count in sessions of `prover` count in those of another identity of the locked account.
    /// - Returns: `false` if they did already.
    func admitIdentity(
        _ identity: UUID, of uid: UUID, prover: UUID, by act: AdministrativeAct, home: Application.ID
    ) async throws -> Bool
}
