package import Foundation

/// Keeps the identities of administrators apart from those that their accounts got later.
///
/// A role counts only in sessions of the identities that the account had when it got the role, and of those that were
/// confirmed since. So that another identity does not get the role by the password or the address of one of these, its
/// sessions can neither change nor remove them, nor merge the account.
package protocol RoleIdentityStore: Sendable {
    /// Returns the identities that have a role which the identity with this provider and `providerUid` lacks.
    ///
    /// With empty texts, these are all identities that have a role.
    func identitiesWithRoles(
        beyond provider: String, _ providerUid: String, of uid: UUID, application: Application.ID
    ) async throws -> Set<UUID>
}

extension RoleIdentityStore {
    /// Requires that every role that counts for one of the identities also counts in the principal's session.
    ///
    /// `nil` stands for all identities of the account.
    /// - Throws: `AccountsError.otherIdentityRequired`.
    func requireReach(of principal: Principal, to identities: [UUID]? = nil) async throws {
        let beyond = try await identitiesWithRoles(
            beyond: principal.provider, principal.providerUid, of: principal.uid, application: principal.application.id)
        guard identities.map(beyond.isDisjoint(with:)) ?? beyond.isEmpty else { throw AccountsError.beyondReach }
    }
}

extension AccountsError {
    static let beyondReach = Self.otherIdentityRequired(LinkingRule.identityHasRole.refusal)
}
