package import Foundation

/// The account's PIN as it concerns one session.
package struct PinState: Sendable, Equatable {
    /// Whether the account has a PIN, even a void one.
    package var exists: Bool
    /// Whether the PIN was wrong 20 times since it was set.
    package var isVoid: Bool
    /// How long no PIN is checked; `nil` if it is not locked.
    package var lockedFor: Duration?
    /// Until when the session is unlocked; `nil` if it is not.
    package var elevatedUntil: Date?
    /// When the session expires.
    package var sessionExpiresAt: Date
    package var hasPassword: Bool

    package init(
        exists: Bool, isVoid: Bool, lockedFor: Duration?, elevatedUntil: Date?, sessionExpiresAt: Date,
        hasPassword: Bool
    ) {
        (self.exists, self.isVoid, self.lockedFor) = (exists, isVoid, lockedFor)
        (self.elevatedUntil, self.sessionExpiresAt, self.hasPassword) = (elevatedUntil, sessionExpiresAt, hasPassword)
    }
}

/// A try that is counted as wrong until the PIN turns out to be right.
package struct PinTry: Sendable {
    package let hash: PasswordHash
    /// Its number among the wrong ones since the PIN was set.
    package let number: Int

    package init(hash: PasswordHash, number: Int) { (self.hash, self.number) = (hash, number) }
}

/// Which PIN a new one may replace; it can be set in any case if the account has none.
package enum PinReplacement: Sendable, Equatable {
    case none, void, any
    /// The one with this hash, which must still exist.
    case of(PasswordHash)
}

/// The session and the account of a call, and the key under which its wrong PINs are counted.
package struct PinOwner: Sendable {
    package let application: Application.ID
    package let uid, session: UUID
    package let attempts: AttemptKey
    /// The dialect of the call, for the audit.
    package let dialect: String?

    package init(_ principal: Principal, attempts: AttemptKey, dialect: String? = nil) {
        (application, uid, session) = (principal.application.id, principal.uid, principal.sessionID)
        (self.attempts, self.dialect) = (attempts, dialect)
    }
}

package protocol PinStore: Sendable {
    /// - Returns: `nil` if the session has ended.
    func pinState(of owner: PinOwner) async throws -> PinState?

    /// Counts a try as wrong in advance, in one statement, so that tries at the same time can't exceed the limits.
    ///
    /// Five wrong tries in a row lock the PIN for 15 minutes; each further one doubles the time, up to a day.
    /// - Returns: `nil`, and counts nothing, if there is no PIN, or it is locked or void.
    func takePinTry(of owner: PinOwner) async throws -> PinTry?

    /// Records a wrong PIN in the audit, and that the PIN is void if this was the last try.
    func recordWrongPin(_ attempt: PinTry, of owner: PinOwner) async throws

    /// Unlocks the session after a right PIN, and takes back that its try counted as wrong.
    /// - Returns: `false` if the PIN has changed since, or the session has ended.
    func elevate(_ owner: PinOwner, by hash: PasswordHash, for duration: Duration) async throws -> Bool

    /// Sets the PIN, ends the elevation of all sessions of the account, and forgets wrong tries.
    /// - Returns: `false` if the account has a PIN that may not be replaced, or is not live, or the session has ended.
    func setPin(_ hash: PasswordHash, of owner: PinOwner, replacing: PinReplacement) async throws -> Bool

    /// Removes the PIN with this hash, or any, and ends the elevation of all sessions of the account.
    /// - Returns: `false` if the account has no such PIN, or the session has ended.
    func removePin(_ hash: PasswordHash?, of owner: PinOwner) async throws -> Bool

    /// Ends the PIN's unlocking of the session.
    func endElevation(of owner: PinOwner) async throws
}

package protocol ElevationStore: Sendable {
    /// Ends the PIN's unlocking of all sessions of the account, which the transaction has locked.
    func endElevations(of uid: UUID, application: Application.ID) async throws
}
