package import Foundation
package import ProviderKit

package protocol ProfileStore: Sendable {
    /// - Returns: `nil` for an unknown or deleted account.
    func user(_ uid: UUID, application: Application.ID) async throws -> User?
    /// The profile of the identity that opened the session; empty if the provider reported none.
    func identityProfile(ofSession id: UUID, application: Application.ID) async throws -> [String: JSONValue]
    /// Replaces the values that are not `nil`.
    func updateProfile(of uid: UUID, displayName: String?, metadata: JSONValue?, application: Application.ID)
        async throws -> User?
    /// Replaces the languages of a live account, in the form of `Client.languages`.
    func setLanguages(_ languages: String, of uid: UUID, application: Application.ID) async throws
}

package protocol AccountDetailStore: Sendable {
    func details(of user: User, provider: String?, application: Application.ID) async throws -> AccountDetails
}

package struct AccountDetails: Sendable, Equatable {
    package var user: User
    /// Whether an admin requires a new password.
    package var shouldChangePassword: Bool
    /// Of the account's oldest identity with the provider that was asked for.
    package var providerUid: String?

    package init(user: User, shouldChangePassword: Bool, providerUid: String?) {
        (self.user, self.shouldChangePassword, self.providerUid) = (user, shouldChangePassword, providerUid)
    }
}

/// Reads how the owner of an account can be reached.
package protocol OwnerContactStore: Sendable {
    func contact(of uid: UUID, application: Application.ID) async throws -> OwnerContact
}

/// The addresses to which notices for an account's owner are sent, and the owner's languages.
package struct OwnerContact: Sendable, Equatable {
    /// The account's verified addresses, except those whose mail a relay does not forward.
    package var addresses: [Address]
    /// In the form of `Client.languages`; `nil` for accounts older than this column.
    package var languages: String?

    package init(addresses: [Address] = [], languages: String? = nil) {
        self.addresses = addresses
        self.languages = languages
    }

    /// The e-mail addresses, or the phone numbers if there is no e-mail address.
    var noticeAddresses: [Address] {
        let emails = addresses.filter { $0.kind == .email }
        return emails.isEmpty ? addresses : emails
    }

    /// The contact after the account has got further addresses.
    func adding(_ further: [Address]) -> OwnerContact {
        OwnerContact(addresses: addresses + further.filter { !addresses.contains($0) }, languages: languages)
    }
}

/// The data of accounts that only admins read and change.
package protocol AdministrationStore: Sendable {
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
