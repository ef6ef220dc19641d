package import Foundation
package import ProviderKit

/// Reads identities.
package protocol IdentityStore: Sendable {
    /// The account's identities, the oldest first.
    func identities(of uid: UUID, application: Application.ID) async throws -> [Identity]

    /// The identity that opened the session, even if the session has ended.
    func identity(ofSession session: UUID, application: Application.ID) async throws -> UUID?

    func knownIdentity(
        _ provider: String, _ providerUid: String, application: Application.ID
    ) async throws -> KnownIdentity?
}

/// Remembers evidence that may be used only once.
package protocol SingleUseStore: Sendable {
    /// - Returns: `false` when it was presented before.
    /// - Throws: a transient `StoreConflict` while another transaction presents it.
    func spend(_ proof: SingleUse, provider: String, application: Application.ID) async throws -> Bool
}

/// Tokens that a provider issued for an identity.
package protocol ProviderTokenStore: Sendable {
    /// Stores the tokens sealed; they replace earlier ones.
    func keep(_ tokens: ProviderTokens, of identity: UUID, application: Application.ID) async throws

    func dropTokens(of identity: UUID, application: Application.ID) async throws

    /// Queues the tokens to be revoked at the provider.
    func revokeTokens(of identity: UUID, application: Application.ID) async throws
}

/// Claims on addresses by people who have not proved them.
package protocol AddressClaimStore: Sendable {
    /// Removes every unproven claim on addresses that were just proved: pending registrations and address changes end,
    /// and identities of other accounts lose the address, their passwords and their sessions.
    ///
    /// Keeps decoys, which cannot be activated: without one, a sign-in would reveal that the address has an account.
    /// `owner` is the account of the person who proved the addresses. The other accounts are locked.
    /// - Throws: a transient `StoreConflict` while another transaction holds one of these rows or accounts.
    func evictUnprovenClaims(on addresses: [Address], owner: UUID?, application: Application.ID) async throws

    /// Removes the decoy registrations of an address that has an owner.
    func discardDecoys(of address: EmailAddress, application: Application.ID) async throws
}

/// Removes identities.
package protocol IdentityRemovalStore: Sendable {
    /// Removes an identity of a locked account, and the addresses that only this identity shows.
    func removeIdentity(_ identity: UUID, of uid: UUID, application: Application.ID) async throws
}

/// Changes the address of identities.
package protocol AddressChangeStore: Sendable {
    /// Replaces the address of an identity of a locked account. The old address becomes free unless another of the
    /// account's identities shows it.
    ///
    /// - Throws: `StoreConflict` when the identity is gone, or the address has an owner by now.
    func changeAddress(
        of identity: UUID, uid: UUID, to target: ChallengeTarget, claiming addresses: [Address],
        application: Application.ID
    ) async throws
}

/// Whether a provider's relay forwards mail to an address.
package protocol MailForwardingStore: Sendable {
    /// While forwarding is off, nothing is sent to the address.
    func setForwarding(_ isOn: Bool, of address: EmailAddress, uid: UUID, application: Application.ID) async throws
}
