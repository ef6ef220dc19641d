package import Accounts
package import Foundation
package import ProviderKit

/// A link with which a person becomes an administrator, as long as it can be used.
package struct AdminInvitation: Sendable {
    package let role: AdminScope.Role
    /// The application that the role is for; `nil` for all.
    package let application: Application.ID?
    /// The address that the account must own, if the link is for one person only.
    package let address: EmailAddress?
    /// The account that owns the address.
    package let owner: UUID?

    package init(role: AdminScope.Role, application: Application.ID?, address: EmailAddress?, owner: UUID?) {
        (self.role, self.application, self.address, self.owner) = (role, application, address, owner)
    }

    /// Whether the account may use the link.
    package func admits(_ uid: UUID) -> Bool { address == nil || owner == uid }
}

/// An invitation to a role, as an administrator creates it.
package struct NewAdminInvitation: Sendable {
    package let role: AdminScope.Role
    /// `nil` for all applications.
    package let application: Application?
    package let address: EmailAddress?
    package let lifetime: Duration
    /// The account of the administrator; `nil` for a command.
    package let inviter: UUID?

    /// - Throws: `AccountsError.invalidParameter` for a text that is no e-mail address, or a lifetime that is not one of
    ///   `AdminInvitations.lifetimes`.
    package init(
        role: AdminScope.Role, application: Application?, email: String?, lifetime: Duration?, inviter: UUID? = nil
    ) throws {
        let lifetime = lifetime ?? AdminInvitations.standardLifetime
        guard AdminInvitations.lifetimes.contains(lifetime) else {
            throw AccountsError.invalidParameter("expiresIn", reason: "is not between 1 second and 7 days")
        }
        address = try email.map { typed in
            guard let address = EmailAddress(typed) else {
                throw AccountsError.invalidParameter("email", reason: "is not an e-mail address")
            }
            return address
        }
        (self.role, self.application, self.lifetime, self.inviter) = (role, application, lifetime, inviter)
    }
}

/// Stores the invitations of the application `home`, whose accounts administrators are, by SHA-256 of their tokens.
///
/// An invitation counts until it is used or expires, and only while the administrator who made it may still grant its
/// role.
package protocol AdminInvitationStore: Sendable {
    /// Stores an invitation and records the act.
    /// - Returns: when it expires.
    func insert(
        _ invitation: NewAdminInvitation, hash: [UInt8], by act: AdministrativeAct, home: Application.ID
    ) async throws -> Date

    /// Reads an invitation, and changes nothing; `nil` for one that does not count.
    func adminInvitation(_ hash: [UInt8], home: Application.ID) async throws -> AdminInvitation?

    /// Deletes an invitation that the account may use.
    /// - Returns: `nil` for one that does not count, or that names the address of another account.
    func useAdminInvitation(
        _ hash: [UInt8], by uid: UUID, home: Application.ID
    ) async throws -> AdminInvitation?
}
