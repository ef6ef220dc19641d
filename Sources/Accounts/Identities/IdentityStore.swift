package import Foundation
package import ProviderKit

package protocol IdentityStore: Sendable {
    /// The account's identities, the oldest first.
    func identities(of uid: UUID, application: Application.ID) async throws -> [Identity]

    /// The identities of the principal's account, the oldest first.
    func identities(of principal: Principal) async throws -> [ListedIdentity]

    /// The identities of several accounts, by account, each the oldest first.
    func identities(ofEach uids: [UUID], application: Application.ID) async throws -> [UUID: [Identity]]

    func knownIdentity(
        _ provider: String, _ providerUid: String, application: Application.ID
    ) async throws -> KnownIdentity?
}

/// Records evidence that may be used only once.
package protocol SingleUseStore: Sendable {
    /// - Returns: `false` if the evidence was presented before.
    /// - Throws: a transient `StoreConflict` while another transaction presents the same evidence.
    func spend(_ proof: SingleUse, provider: String, application: Application.ID) async throws -> Bool

    /// Works as `spend`, but throws `ProviderError.refused` if the evidence was presented before.
    func spendOrRefuse(_ proof: SingleUse, provider: String, application: Application.ID) async throws
}

/// Tokens that a provider issued for an identity.
package protocol ProviderTokenStore: Sendable {
    /// Seals and stores the tokens, which replace earlier ones.
    func keep(_ tokens: ProviderTokens, of identity: UUID, application: Application.ID) async throws
    func dropTokens(of identity: UUID, application: Application.ID) async throws
    /// Queues the tokens to be revoked at the provider.
    func revokeTokens(of identity: UUID, application: Application.ID) async throws
}

/// Removes claims on addresses by people who have not proved them.
package protocol AddressClaimStore: Sendable {
    /// Removes every unproven claim on addresses that were just proved.
    ///
    /// Pending registrations and address changes end, and identities of other accounts lose the address, their
    /// passwords and their sessions. Decoys remain: registrations of addresses that already had an owner, which cannot
    /// be activated but whose password gets the response of a pending registration, so that a sign-in does not reveal
    /// the owner's account. `owner` is the account of the person who proved the addresses; the others are locked.
    /// - Throws: a transient `StoreConflict` while another transaction holds one of these rows or accounts.
    func evictUnprovenClaims(on addresses: [Address], owner: UUID?, application: Application.ID) async throws

    /// Removes the decoy registrations of an address that has an owner.
    func discardDecoys(of address: EmailAddress, application: Application.ID) async throws
}

package protocol IdentityRemovalStore: Sendable {
    /// Locks the principal's account and session, and reads what a removal depends on.
    /// - Returns: `nil` when the session has ended or the account is not live.
    func lockIdentities(of principal: Principal) async throws -> LockedIdentities?

    /// Removes an identity of a locked account, and the addresses that no other identity of the account has.
    ///
    /// `details` are further details of the audit event.
    func removeIdentity(
        _ identity: UUID, of uid: UUID, details: [String: JSONValue], application: Application.ID
    ) async throws
}

/// The identities of a locked account, and its owner's contact.
package struct LockedIdentities: Sendable {
    package let identities: [ListedIdentity]
    package let contact: OwnerContact
    /// Those that the principal's session must not remove (`RoleIdentityStore`).
    package let beyondReach: Set<UUID>

    package init(identities: [ListedIdentity], contact: OwnerContact, beyondReach: Set<UUID>) {
        (self.identities, self.contact, self.beyondReach) = (identities, contact, beyondReach)
    }
}

/// A change of an identity's address that waits for its code.
package struct PendingAddressChange: Sendable {
    package let identity, challenge: UUID
    /// The new address.
    package let address: Address

    package init(identity: UUID, challenge: UUID, address: Address) {
        (self.identity, self.challenge, self.address) = (identity, challenge, address)
    }
}

package protocol AddressChangeStore: Sendable {
    /// Reads the newest address change of the account whose code can still be presented.
    func addressChange(of uid: UUID, application: Application.ID) async throws -> PendingAddressChange?

    /// Replaces the address of an identity of a locked account, which loses the old one unless another identity has it.
    /// - Throws: `StoreConflict` if the identity no longer exists, or the new address has an owner.
    func changeAddress(
        of identity: UUID, uid: UUID, to target: ChallengeTarget, claiming addresses: [Address],
        application: Application.ID) async throws
}

package protocol MailForwardingStore: Sendable {
    /// While forwarding is off, nothing is sent to the address.
    func setForwarding(_ isOn: Bool, of address: EmailAddress, uid: UUID, application: Application.ID) async throws
}
