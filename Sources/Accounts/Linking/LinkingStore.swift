package import Foundation
package import ProviderKit

/// The condition under which a checked password permits a session.
///
/// The statement that opens the session locks the row, checks that the password is unchanged and that the subject is
/// not locked, and clears the count of failures.
package struct PasswordPermission: Sendable {
    package let hash: PasswordHash
    package let attempts: AttemptKey
}

package protocol LinkingStateStore: Sendable {
    /// Reads the identity with the evidence's `providerUid`, the owners of its addresses and, for a link, the
    /// principal's account.
    ///
    /// Sets `isIdle` for a phone number that was not used as a proof for as long as its provider allows, and
    /// `needsOtherSignIn` for an address that only quarantined identities have. The caller checks whether the account
    /// has another usable identity.
    func linkingReading(
        for evidence: VerifiedIdentity, of provider: String, requestedBy principal: Principal?,
        in application: Application
    ) async throws -> LinkingReading

    /// Checks in a transaction that a state is still stored.
    ///
    /// - Throws: `StoreConflict` if the state has changed.
    func require(
        _ stored: LinkingState, for evidence: VerifiedIdentity, of provider: String,
        requestedBy principal: Principal?, in application: Application
    ) async throws
}

package protocol SessionOpeningStore: Sendable {
    /// Opens a session by one statement, which checks again everything that the verdict depends on.
    /// - Throws: `StoreConflict` if the account is not live, or the password or the quarantine has changed.
    func openSession(
        _ session: NewSession, identity: KnownIdentity, password: PasswordPermission?
    ) async throws -> OpenedSession

    /// Opens a session with a `deviceMark` in the same way if the account has one of the same device, also one that
    /// ended within the last month.
    /// - Returns: `nil` if the device is new, or if `openSession` would throw `StoreConflict`; nothing was written then.
    func openSession(
        onKnownDevice session: NewSession, identity: KnownIdentity, password: PasswordPermission?
    ) async throws -> OpenedSession?

    /// Marks a session as borrowed: it was opened without a proof of its identity.
    func borrow(session: UUID, application: Application.ID) async throws
}

/// Creates accounts, adds identities and removes phone numbers, each by one statement that checks the facts again.
package protocol LinkingStore: Sendable {
    /// - Throws: `StoreConflict` if the identity was created in the meantime, or one of its addresses has an owner.
    func createAccount(
        opening session: NewSession, with identity: NewIdentity, recording record: EvidenceRecord
    ) async throws -> OpenedSession

    /// - Throws: `StoreConflict` in the cases of `createAccount`, and if the account is no longer live or has as many
    ///   identities as the application allows, or if `linkingSession` has ended or its account is a guest's.
    func add(
        _ identity: NewIdentity, provenBy session: NewSession, recording record: EvidenceRecord, to uid: UUID
    ) async throws -> KnownIdentity

    /// Adds an identity to a locked account and opens a session with it, by one statement.
    ///
    /// The caller chooses the identity's id, because the event about it is queued before. The call stores no provider
    /// tokens and sends no notice of a new device.
    /// - Throws: `StoreConflict` in the cases of `add`.
    func openSession(
        _ session: NewSession, adding identity: NewIdentity, id: UUID, recording record: EvidenceRecord, to uid: UUID
    ) async throws -> OpenedSession

    /// Removes a number and its identities from a locked account; those with live sessions become guest identities.
    /// - Returns: whether the account has an identity left.
    func displace(_ owner: AddressOwner, application: Application.ID) async throws -> Bool
}

package protocol GuestUpgradeStore: Sendable {
    /// Replaces the guest identity by one that was just added; the session continues with another refresh token.
    /// - Throws: `StoreConflict` if the session has ended.
    func upgradeGuest(
        opening session: NewSession, identity: KnownIdentity, keeping current: UUID
    ) async throws -> OpenedSession
}
