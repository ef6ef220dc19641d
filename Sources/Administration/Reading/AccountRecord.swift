package import Accounts
package import Foundation

/// What an account is to administrators: one of five, so that each account is in one of the lists.
package enum AccountState: String, Sendable, CaseIterable {
    case live, disabled
    /// In its grace period; it may have been disabled before.
    case deleted
    /// An alias of the account that has absorbed it.
    case absorbed
    /// Live, and all its identities are guest identities.
    case guest
}

/// An account as it is stored; `MaskedAccount` is what administrators see of it.
package struct AccountRecord: Sendable {
    package let user: User
    package let absorbedBy: UUID?
    package let disabledAt, disabledUntil, deletedAt, purgeAfter: Date?

    package init(
        user: User, absorbedBy: UUID?, disabledAt: Date?, disabledUntil: Date?, deletedAt: Date?, purgeAfter: Date?
    ) {
        (self.user, self.absorbedBy, self.disabledAt) = (user, absorbedBy, disabledAt)
        (self.disabledUntil, self.deletedAt, self.purgeAfter) = (disabledUntil, deletedAt, purgeAfter)
    }

    package var state: AccountState {
        if absorbedBy != nil { return .absorbed }
        if deletedAt != nil { return .deleted }
        if disabledAt != nil { return .disabled }
        return user.isAnonymous ? .guest : .live
    }
}

/// Which accounts a list has.
package struct AccountFilter: Sendable {
    package let state: AccountState?
    /// The provider of which the accounts have an identity.
    package let provider: String?
    package let createdAfter, createdBefore: Date?

    package init(state: AccountState? = nil, provider: String? = nil, createdAfter: Date?, createdBefore: Date?) {
        (self.state, self.provider) = (state, provider)
        (self.createdAfter, self.createdBefore) = (createdAfter, createdBefore)
    }
}

/// The place of an account in a list of accounts, the newest first.
package struct AccountPosition: Sendable, Equatable {
    package let createdAt: Date
    package let uid: UUID

    package init(createdAt: Date, uid: UUID) { (self.createdAt, self.uid) = (createdAt, uid) }
}
