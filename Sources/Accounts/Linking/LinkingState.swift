package import Foundation
package import ProviderKit

/// Whether an account can be signed in to.
package enum AccountStatus: Sendable, Equatable {
    case live
    /// By an admin, whatever else it is: it may be in its grace period as well.
    case disabled(isDeleted: Bool)
    /// In its grace period.
    case deleted(purgeAfter: Date)
    /// An alias of the account that absorbed it.
    case absorbed(by: UUID)

    /// Nobody has asked for its deletion yet.
    package var isUndeleted: Bool { self == .live || self == .disabled(isDeleted: false) }

    /// By an admin.
    package var isDisabled: Bool {
        if case .disabled = self { true } else { false }
    }
}

/// An identity that the database knows, and the account it opens.
package struct KnownIdentity: Sendable, Equatable {
    package var id: UUID
    package var uid: UUID
    package var status: AccountStatus
    /// A password reset has shut it out until another sign-in of the account.
    package var isQuarantined: Bool
    /// It is quarantined, and the account can be signed in to by another identity.
    package var needsOtherSignIn = false

    package init(id: UUID, uid: UUID, status: AccountStatus, isQuarantined: Bool = false) {
        self.id = id
        self.uid = uid
        self.status = status
        self.isQuarantined = isQuarantined
    }
}

/// The account that owns a verified address.
package struct AddressOwner: Sendable, Equatable {
    package var address: Address
    package var uid: UUID
    package var status: AccountStatus
    /// A phone number that proved nobody for longer than its provider trusts it.
    package var isIdle: Bool
    /// The account can be signed in to without this address.
    package var hasOtherWay: Bool
    /// No identity but quarantined ones shows the address, and the account can be signed in to by another identity.
    package var needsOtherSignIn = false

    package init(
        address: Address, uid: UUID, status: AccountStatus, isIdle: Bool = false, hasOtherWay: Bool = false
    ) {
        self.address = address
        self.uid = uid
        self.status = status
        self.isIdle = isIdle
        self.hasOtherWay = hasOtherWay
    }
}

/// The account whose bearer asks for a link.
package struct RequestingAccount: Sendable, Equatable {
    package var uid: UUID
    /// It has no identity but a guest's.
    package var isGuest: Bool

    package init(uid: UUID, isGuest: Bool) {
        self.uid = uid
        self.isGuest = isGuest
    }
}

/// Everything the rows say about one piece of evidence.
package struct LinkingState: Sendable, Equatable {
    /// The identity that the evidence names, where it is known.
    package var identity: KnownIdentity?
    /// Owners of the addresses that the evidence carries.
    package var owners: [AddressOwner]
    /// Set where a link is asked for.
    package var requester: RequestingAccount?

    package init(identity: KnownIdentity? = nil, owners: [AddressOwner] = [], requester: RequestingAccount? = nil) {
        self.identity = identity
        self.owners = owners
        self.requester = requester
    }
}
