package import Foundation
package import ProviderKit

/// An identity as its account holds it.
package struct HeldIdentity: Sendable {
    package let id: UUID
    package let uid: UUID
    package let status: AccountStatus
    package let createdAt: Date
    package let lastUsedAt: Date?
    /// The account has no other.
    package let isLast: Bool

    package init(id: UUID, uid: UUID, status: AccountStatus, createdAt: Date, lastUsedAt: Date?, isLast: Bool) {
        self.id = id
        self.uid = uid
        self.status = status
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.isLast = isLast
    }
}

/// An identity as its owner sees it.
package struct IdentityRecord: Sendable, Equatable {
    package let id: UUID
    package let provider: String
    package let providerUid: String
    package let isGuest: Bool
    package let email: EmailAddress?
    package let emailVerified: Bool
    package let phone: PhoneNumber?
    package let phoneVerified: Bool
    package let displayName: String?
    package let createdAt: Date
    package let lastUsedAt: Date?
    /// When it joined this account with this address.
    package let linkedAt: Date
    /// A password reset has shut it out until another sign-in of the account.
    package let isQuarantined: Bool

    package init(
        id: UUID, provider: String, providerUid: String, isGuest: Bool = false, email: EmailAddress? = nil,
        emailVerified: Bool = false, phone: PhoneNumber? = nil, phoneVerified: Bool = false,
        displayName: String? = nil, createdAt: Date, lastUsedAt: Date? = nil, linkedAt: Date? = nil,
        isQuarantined: Bool = false
    ) {
        self.id = id
        self.provider = provider
        self.providerUid = providerUid
        self.isGuest = isGuest
        self.email = email
        self.emailVerified = emailVerified
        self.phone = phone
        self.phoneVerified = phoneVerified
        self.displayName = displayName
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.linkedAt = linkedAt ?? createdAt
        self.isQuarantined = isQuarantined
    }
}

/// What belongs to an identity beside its sessions.
package protocol IdentityStore: Sendable {
    /// The account's, the oldest first.
    func identities(of uid: UUID, application: Application.ID) async throws -> [IdentityRecord]

    /// The identity that opened the session, be it one of long ago.
    func identity(ofSession session: UUID, application: Application.ID) async throws -> UUID?

    func heldIdentity(_ provider: String, _ providerUid: String, _ application: Application.ID) async throws
        -> HeldIdentity?

    /// Remembers a proof that works once.
    ///
    /// - Returns: `false` when it was presented before.
    /// - Throws: a transient `StoreConflict` while another transaction presents it.
    func spend(_ proof: SingleUse, provider: String, application: Application.ID) async throws -> Bool

    /// Keeps a service's tokens, sealed; they replace earlier ones.
    func keep(_ tokens: ProviderTokens, of identity: UUID, application: Application.ID) async throws

    func dropTokens(of identity: UUID, application: Application.ID) async throws

    /// Takes a service's tokens out of use, to be given back to it later.
    func revokeTokens(of identity: UUID, application: Application.ID) async throws

    /// Frees addresses that somebody has just proven of every claim on them that nobody proved: pending registrations
    /// and changes go, and identities of other accounts lose the address, their passwords and their sessions.
    ///
    /// Keeps decoys, which cannot be activated: without one, a sign-in would reveal that the address has an account.
    /// `owner` is the account of the person who proved the addresses. The other accounts are locked.
    /// - Throws: a transient `StoreConflict` while another transaction holds one of these rows or accounts.
    func evictUnprovenClaims(on addresses: [Address], owner: UUID?, application: Application.ID) async throws

    /// Forgets what strangers registered with an address that has an owner.
    func discardDecoys(of address: EmailAddress, application: Application.ID) async throws

    /// Mail to an address of the account is, or is no longer, passed on; while it isn't, nothing is sent there.
    func setForwarding(_ isOn: Bool, of address: EmailAddress, uid: UUID, application: Application.ID) async throws

    /// Removes an identity of an account that the caller has locked, and the addresses that only it shows.
    func removeIdentity(_ identity: UUID, of uid: UUID, application: Application.ID) async throws

    /// Another address for an identity that is one, of an account that the caller has locked; the old one is free from
    /// then on, unless another of its identities shows it.
    ///
    /// - Throws: `StoreConflict` when the identity is gone, or the address has an owner by now.
    func changeAddress(
        of identity: UUID, uid: UUID, to target: ChallengeTarget, claiming addresses: [Address],
        application: Application.ID
    ) async throws
}
