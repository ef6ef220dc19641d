package import Foundation
package import ProviderKit

/// Whether an account can be signed in to.
package enum AccountStatus: Sendable, Equatable {
    case live
    /// Disabled by an admin; the account may be in its grace period as well.
    case disabled(isDeleted: Bool)
    /// The account is in its grace period, and can be restored until `purgeAfter`.
    case deleted(purgeAfter: Date)
    /// The account was merged away, and is an alias of the account that absorbed it.
    case absorbed(by: UUID)

    /// Live or disabled, and no deletion was requested.
    package var isUndeleted: Bool { self == .live || self == .disabled(isDeleted: false) }

    package var isDisabled: Bool { if case .disabled = self { true } else { false } }
}

/// A stored identity and the account that it opens.
package struct KnownIdentity: Sendable, Equatable {
    package var id, uid: UUID
    package var status: AccountStatus
    /// Whether a password reset blocked the identity until another sign-in to the account confirms it.
    package var isQuarantined: Bool
    /// Whether the identity is quarantined and another identity can sign in to the account.
    package var needsOtherSignIn = false

    package init(id: UUID, uid: UUID, status: AccountStatus, isQuarantined: Bool = false) {
        (self.id, self.uid, self.status, self.isQuarantined) = (id, uid, status, isQuarantined)
    }
}

/// The account that owns a verified address.
package struct AddressOwner: Sendable, Equatable {
    package var address: Address
    package var uid: UUID
    package var status: AccountStatus
    /// Whether the address is a phone number that was not used as a proof for longer than its provider allows.
    package var isIdle: Bool
    /// Whether the owner can sign in to the account without this address.
    package var hasOtherWay: Bool
    /// Whether only quarantined identities have the address, and another identity can sign in to the account.
    package var needsOtherSignIn = false
    /// Whether the account has as many identities as its application allows; `false` if the evidence is of a known
    /// identity, which joins no account.
    package var isFull = false

    package init(address: Address, uid: UUID, status: AccountStatus, isIdle: Bool = false, hasOtherWay: Bool = false) {
        (self.address, self.uid, self.status) = (address, uid, status)
        (self.isIdle, self.hasOtherWay) = (isIdle, hasOtherWay)
    }
}

/// The signed-in account that requests a link.
package struct RequestingAccount: Sendable, Equatable {
    package var uid: UUID
    /// Whether all identities of the account are guest identities.
    package var isGuest: Bool
    /// Whether the account has as many identities as its application allows.
    package var isFull = false

    package init(uid: UUID, isGuest: Bool, isFull: Bool = false) {
        self.uid = uid
        self.isGuest = isGuest
        self.isFull = isFull
    }
}

/// The stored facts that the linking rules apply to one piece of evidence.
package struct LinkingState: Sendable, Equatable {
    /// The stored identity with the evidence's `providerUid`, if it exists.
    package var identity: KnownIdentity?
    package var owners: [AddressOwner]
    /// The signed-in account; `nil` for a sign-in, or if the requesting session has ended.
    package var requester: RequestingAccount?

    package init(identity: KnownIdentity? = nil, owners: [AddressOwner] = [], requester: RequestingAccount? = nil) {
        (self.identity, self.owners, self.requester) = (identity, owners, requester)
    }
}

/// What the database has about a piece of evidence, read by one statement.
package struct LinkingReading: Sendable {
    /// The state as it is stored.
    ///
    /// Its `needsOtherSignIn` values do not consider whether another identity can sign in, and `hasOtherWay` is not set.
    package let stored: LinkingState
    /// The owners of the accounts that the evidence may be added to.
    package let contacts: [UUID: OwnerContact]
    /// The state to decide on.
    package var state: LinkingState

    package init(_ stored: LinkingState, contacts: [UUID: OwnerContact] = [:]) {
        self.stored = stored
        self.contacts = contacts
        state = stored
    }
}
