package import Foundation
package import ProviderKit

/// An account as its owner sees it.
package struct User: Sendable, Equatable {
    package var uid: UUID
    /// The account's first verified e-mail address.
    ///
    /// An unverified address belongs to no account.
    package var email: String?
    package var phone: String?
    package var displayName: String?
    /// Whether all identities of the account are guest identities.
    package var isAnonymous: Bool
    /// The distinct providers of the account's identities, the oldest first.
    package var providers: [String]
    package var metadata: JSONValue
    package var createdAt: Date
    package var updatedAt: Date

    package init(
        uid: UUID, email: String?, phone: String?, displayName: String?, isAnonymous: Bool, providers: [String],
        metadata: JSONValue, createdAt: Date, updatedAt: Date
    ) {
        self.uid = uid
        self.email = email
        self.phone = phone
        self.displayName = displayName
        self.isAnonymous = isAnonymous
        self.providers = providers
        self.metadata = metadata
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}
