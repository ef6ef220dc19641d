package import Foundation
package import ProviderKit

package protocol ProfileStore: Sendable {
    /// - Returns: `nil` for an unknown or deleted account.
    func user(_ uid: UUID, application: Application.ID) async throws -> User?
    /// The profile of the identity that opened the session; empty if the provider reported none.
    func identityProfile(ofSession id: UUID, application: Application.ID) async throws -> [String: JSONValue]
    /// Replaces the values that are not `nil`.
    /// - Returns: `nil` for an account that is not live.
    func updateProfile(of uid: UUID, displayName: String?, metadata: JSONValue?, application: Application.ID)
        async throws -> User?
    /// Replaces the languages, in the form of `Client.languages`.
    /// - Returns: `false` for an account that is not live.
    func setLanguages(_ languages: String, of uid: UUID, application: Application.ID) async throws -> Bool
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
