package import Accounts
package import Foundation

/// A role that a person has been granted, for one application or for all.
package struct AdminGrant: Sendable, Equatable {
    package let uid: UUID
    package let role: AdminScope.Role
    /// The application that the role is for; `nil` for all.
    package let application: Application.ID?
    package let createdAt: Date

    package init(uid: UUID, role: AdminScope.Role, application: Application.ID?, createdAt: Date) {
        (self.uid, self.role, self.application, self.createdAt) = (uid, role, application, createdAt)
    }
}

/// Stores the grants of the application `home`, whose accounts administrators are (`admin.application`).
package protocol AdminGrantStore: Sendable {
    func grants(home: Application.ID) async throws -> [AdminGrant]

    /// The applications in which an account, or one that was merged into it, has a role; `nil` stands for all.
    ///
    /// The roles of merged accounts do not count, but undoing the merge gives them back.
    func applicationsOfGrants(of uid: UUID, home: Application.ID) async throws -> Set<Application.ID?>

    /// Grants a role in place of the former one for the same application, and records the act unless nothing changes.
    ///
    /// The grant counts in sessions of the identities that the account has at the first grant. It counts in those of
    /// the present ones instead with `knowingAllIdentities`, and if the account has none of the former ones any more.
    /// - Returns: `false` if nothing changed.
    func grant(
        _ role: AdminScope.Role, to uid: UUID, on application: Application?, knowingAllIdentities: Bool,
        by act: AdministrativeAct, home: Application.ID
    ) async throws -> Bool

    /// - Returns: `false` if there was no such grant.
    func revokeGrant(
        of uid: UUID, on application: Application?, by act: AdministrativeAct, home: Application.ID
    ) async throws -> Bool

    /// Locks the grants of all owners of all applications, and returns those whose accounts are live.
    func lockOwners(home: Application.ID) async throws -> Set<UUID>
}
