package import Accounts
package import Foundation

/// The data of accounts that only admins read and change.
package protocol AccountActStore: Sendable {
    /// Everything about the account except secrets; `nil` for an unknown account.
    func dossier(_ uid: UUID, application: Application.ID) async throws -> AccountDossier?
    func setDisabled(_ disabled: Bool, uid: UUID, application: Application.ID) async throws

    /// Requires a new password at the next sign-in.
    /// - Returns: `false` when the account has no password.
    func requirePasswordChange(uid: UUID, application: Application.ID) async throws -> Bool

    /// Replaces the roles and claims of a locked account and records the act, unless they stay as they are.
    ///
    /// The event names roles that were added or removed only if they are among `listed`, the application's own names,
    /// because the audit outlives the account.
    /// - Throws: `StoreConflict` if there is no such account.
    func setAccess(
        _ change: AccessChange, naming listed: [String], of uid: UUID, by act: AdministrativeAct,
        application: Application.ID
    ) async throws -> ChangedAccess
}

/// The roles and claims of an account after a change.
package struct ChangedAccess: Sendable, Equatable {
    package var access: AccountAccess
    /// Which of `roles` and `claims` the change has changed.
    package var changed: [String]

    package init(access: AccountAccess, changed: [String]) { (self.access, self.changed) = (access, changed) }
}

package struct AccountDossier: Sendable {
    package let user: User
    package let isDisabled: Bool
    /// When the grace period of a deleted account ends.
    package let purgeAfter: Date?
    package let identities: [Identity]
    package let liveSessions: Int

    package init(user: User, isDisabled: Bool, purgeAfter: Date?, identities: [Identity], liveSessions: Int) {
        (self.user, self.isDisabled, self.purgeAfter) = (user, isDisabled, purgeAfter)
        (self.identities, self.liveSessions) = (identities, liveSessions)
    }
}
