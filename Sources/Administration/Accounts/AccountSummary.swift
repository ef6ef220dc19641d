package import Accounts
package import Foundation

/// The state of an account, without anything that tells who the person is.
package struct AccountSummary: Sendable, Equatable {
    /// The first of these that applies, in the order `absorbed`, `deleted`, `disabled`, `guest`, `live`.
    package enum Status: String, Sendable, CaseIterable { case live, disabled, deleted, absorbed, guest }

    package let uid: UUID
    package let status: Status
    package let createdAt, updatedAt: Date
    package let access: AccountAccess
    package let disabledAt: Date?
    /// When the account is enabled again; `nil` if that takes an administrator.
    package let disabledUntil: Date?
    package let deletedAt: Date?
    /// When the grace period of a deleted account ends.
    package let purgeAfter: Date?
    /// The receipt of the deletion that is under way.
    package let receipt: UUID?

    package init(
        uid: UUID, status: Status, createdAt: Date, updatedAt: Date, access: AccountAccess, disabledAt: Date?,
        disabledUntil: Date?, deletedAt: Date?, purgeAfter: Date?, receipt: UUID?
    ) {
        (self.uid, self.status, self.createdAt, self.updatedAt) = (uid, status, createdAt, updatedAt)
        (self.access, self.disabledAt, self.disabledUntil) = (access, disabledAt, disabledUntil)
        (self.deletedAt, self.purgeAfter, self.receipt) = (deletedAt, purgeAfter, receipt)
    }
}
