package import Foundation
package import ProviderKit

/// Live accounts, as their owners and admins see them.
package protocol AccountStore: Sendable {
    /// `nil` for one that is unknown or deleted.
    func user(_ uid: UUID, application: Application.ID) async throws -> User?

    func updateProfile(
        of uid: UUID, displayName: String?, metadata: JSONValue?, application: Application.ID
    ) async throws -> User?

    /// Where notices about the account go: its verified e-mail addresses, or where it has none its numbers.
    func noticeAddresses(of uid: UUID, application: Application.ID) async throws -> [Address]

    /// What its owner reads, as `Client.languages` has it; nobody has said so of old accounts.
    func languages(of uid: UUID, application: Application.ID) async throws -> String?

    /// Waits for whoever holds the account, then keeps others from opening sessions of it until the transaction ends.
    /// - Returns: `nil` for an unknown one.
    func lockAccount(_ uid: UUID, application: Application.ID) async throws -> AccountStatus?

    /// For admins: everything about the account but secrets, `nil` for an unknown one.
    func dossier(_ uid: UUID, application: Application.ID) async throws -> AccountDossier?

    func setDisabled(_ disabled: Bool, uid: UUID, application: Application.ID) async throws
}

/// An account as an admin sees it.
package struct AccountDossier: Sendable {
    package struct Identity: Sendable {
        package let id: UUID
        package let provider: String
        package let providerUid: String
        package let email: String?
        package let emailVerified: Bool
        package let createdAt: Date
        package let lastUsedAt: Date?

        package init(
            id: UUID, provider: String, providerUid: String, email: String?, emailVerified: Bool, createdAt: Date,
            lastUsedAt: Date?
        ) {
            self.id = id
            self.provider = provider
            self.providerUid = providerUid
            self.email = email
            self.emailVerified = emailVerified
            self.createdAt = createdAt
            self.lastUsedAt = lastUsedAt
        }
    }

    package let user: User
    package let isDisabled: Bool
    /// When the grace period of a deleted account ends.
    package let purgeAfter: Date?
    package let identities: [Identity]
    package let liveSessions: Int

    package init(
        user: User, isDisabled: Bool, purgeAfter: Date?, identities: [Identity], liveSessions: Int
    ) {
        self.user = user
        self.isDisabled = isDisabled
        self.purgeAfter = purgeAfter
        self.identities = identities
        self.liveSessions = liveSessions
    }
}
