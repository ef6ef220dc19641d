package import Foundation
package import ProviderKit

package protocol ProfileStore: Sendable {
    /// - Returns: `nil` for an unknown or deleted account.
    func user(_ uid: UUID, application: Application.ID) async throws -> User?
    /// Replaces the values that are not `nil`.
    func updateProfile(of uid: UUID, displayName: String?, metadata: JSONValue?, application: Application.ID)
        async throws -> User?
}

/// Reads the addresses to which notices for an account's owner are sent, and the owner's languages.
package protocol OwnerContactStore: Sendable {
    /// The account's verified e-mail addresses, or its phone numbers if it has no such address.
    func noticeAddresses(of uid: UUID, application: Application.ID) async throws -> [Address]
    /// The owner's languages in the form of `Client.languages`; `nil` for accounts older than this column.
    func languages(of uid: UUID, application: Application.ID) async throws -> String?
}

/// The data of accounts that only admins read and change.
package protocol AdministrationStore: Sendable {
    /// Everything about the account except secrets; `nil` for an unknown account.
    func dossier(_ uid: UUID, application: Application.ID) async throws -> AccountDossier?
    func setDisabled(_ disabled: Bool, uid: UUID, application: Application.ID) async throws

    /// Requires a new password at the next sign-in.
    /// - Returns: `false` when the account has no password.
    func requirePasswordChange(uid: UUID, application: Application.ID) async throws -> Bool
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
