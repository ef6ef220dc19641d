package import Foundation
package import ProviderKit

/// The password that permits a session.
///
/// The statement that opens the session locks the row, checks that the password is unchanged and that the subject is
/// not locked, and clears the count of failures.
package struct PasswordPermission: Sendable {
    package let hash: PasswordHash
    package let attempts: AttemptKey
}

/// Reads the rows that the linking rules depend on.
package protocol LinkingStateStore: Sendable {
    /// A phone number is idle if it was not used as a proof for `idleLimit`. An address needs another sign-in if only
    /// quarantined identities have it. The use case checks whether the account has another way in.
    func linkingState(
        for evidence: VerifiedIdentity, provider: String, idleLimit: Duration, application: Application.ID
    ) async throws -> LinkingState
}

/// Opens sessions of existing accounts.
package protocol SessionOpeningStore: Sendable {
    /// Runs as one statement whose conditions repeat what the verdict depends on.
    /// - Throws: `StoreConflict` when the account is no longer live, the password has changed, or the identity's
    ///   quarantine began or ended.
    func openSession(
        _ session: NewSession, identity: KnownIdentity, password: PasswordPermission?
    ) async throws -> OpenedSession
}

/// Writes identities that evidence creates, adds or removes.
///
/// Each call is one statement whose conditions repeat what the verdict depends on.
package protocol LinkingStore: Sendable {
    /// - Throws: `StoreConflict` when the identity exists by now, or one of its addresses has an owner.
    func createAccount(opening session: NewSession, with identity: NewIdentity) async throws -> OpenedSession

    /// - Throws: `StoreConflict` as `createAccount` does, and when the account is no longer live.
    func add(_ identity: NewIdentity, provenBy session: NewSession, to uid: UUID) async throws -> KnownIdentity

    /// Removes a phone number from an account that the transaction has locked.
    ///
    /// Identities that are that number are deleted, or become guest identities if they have live sessions.
    /// - Returns: whether the account has an identity left.
    func displace(_ owner: AddressOwner, application: Application.ID) async throws -> Bool
}

/// Upgrades guests.
package protocol GuestUpgradeStore: Sendable {
    /// Replaces the guest identity by one that was just added. Its session continues with that identity and gets
    /// another refresh token.
    ///
    /// - Throws: `StoreConflict` when the session has ended.
    func upgradeGuest(
        opening session: NewSession, identity: KnownIdentity, keeping current: UUID
    ) async throws -> OpenedSession
}
