package import Foundation
package import ProviderKit

/// Whether an account can be signed in to.
package enum AccountStatus: Sendable, Equatable {
    case live
    case disabled
    /// In its grace period.
    case deleted(purgeAfter: Date)
}

/// An identity that the database knows, and the account it opens.
package struct KnownIdentity: Sendable, Equatable {
    package var id: UUID
    package var uid: UUID
    package var status: AccountStatus

    package init(id: UUID, uid: UUID, status: AccountStatus) {
        self.id = id
        self.uid = uid
        self.status = status
    }
}

/// The account that owns a verified address.
package struct AddressOwner: Sendable, Equatable {
    package var address: Address
    package var uid: UUID
    package var status: AccountStatus

    package init(address: Address, uid: UUID, status: AccountStatus) {
        self.address = address
        self.uid = uid
        self.status = status
    }
}

/// Everything the rows say about one piece of evidence.
package struct LinkingState: Sendable, Equatable {
    /// The identity that the evidence names, where it is known.
    package var identity: KnownIdentity?
    /// Owners of the addresses that the evidence carries.
    package var owners: [AddressOwner]

    package init(identity: KnownIdentity? = nil, owners: [AddressOwner] = []) {
        self.identity = identity
        self.owners = owners
    }
}

/// What of the application's configuration bears on the decision.
package struct LinkingPolicy: Sendable, Equatable {
    package var mode: ProviderMode
    package var automatic: ApplicationPolicy.AutomaticLinking

    package init(mode: ProviderMode, automatic: ApplicationPolicy.AutomaticLinking) {
        self.mode = mode
        self.automatic = automatic
    }
}
