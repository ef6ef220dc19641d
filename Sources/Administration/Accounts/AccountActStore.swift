package import Accounts
package import Foundation
package import ProviderKit

/// The data of accounts that only admins read and change.
///
/// Acts change a locked account and record themselves, unless the account stays as it is.
package protocol AccountActStore: Sendable {
    /// Everything about the account except secrets; `nil` for an unknown account.
    func dossier(_ uid: UUID, application: Application.ID) async throws -> AccountDossier?

    /// The account's roles and claims, and the deletion that is under way; `nil` for an unknown account.
    func summary(
        of uid: UUID, application: Application.ID
    ) async throws -> (access: AccountAccess, deletion: ScheduledDeletion?)?

    /// Disables or enables the account; `until` is when it is enabled again, `nil` for never.
    /// - Returns: `false` if nothing changed.
    func setDisabled(
        _ disabled: Bool, until: Date?, uid: UUID, by act: AdministrativeAct, application: Application.ID
    ) async throws -> Bool

    /// Requires a new password at the next sign-in.
    /// - Returns: whether that is new; `nil` when the account has no password.
    func requirePasswordChange(
        uid: UUID, by act: AdministrativeAct, application: Application.ID
    ) async throws -> Bool?

    /// Replaces the values that are not `nil`.
    /// - Returns: `false` if nothing changed.
    func updateProfile(
        of uid: UUID, displayName: String?, metadata: JSONValue?, by act: AdministrativeAct,
        application: Application.ID
    ) async throws -> Bool

    /// Replaces the roles and claims of the account.
    ///
    /// The event names roles that were added or removed only if they are among `listed`, the application's own names,
    /// because the audit outlives the account.
    /// - Throws: `StoreConflict` if there is no such account.
    func setAccess(
        _ change: AccessChange, naming listed: [String], of uid: UUID, by act: AdministrativeAct,
        application: Application.ID
    ) async throws -> ChangedAccess

    /// Ends the sessions with these ids, or all if `sessions` is `nil`; ids of other accounts are ignored.
    ///
    /// Records each session that ends, but not the act.
    /// - Returns: how many have ended, with those that end with them.
    func endSessions(
        _ sessions: [UUID]?, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws -> Int

    /// Ends the grace period now.
    /// - Returns: `false` if it was over, or the deletion was cancelled.
    func skipGracePeriod(of erasure: DueErasure, by act: AdministrativeAct) async throws -> Bool

    /// The receipt of an account that is erased.
    func receipt(ofErased uid: UUID, application: Application.ID) async throws -> UUID?
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
