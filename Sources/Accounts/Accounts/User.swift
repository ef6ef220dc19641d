package import Foundation
package import ProviderKit

package struct User: Sendable, Equatable {
    package var uid: UUID
    /// The first verified e-mail address; an unverified one belongs to no account.
    package var email: String?
    package var phone, displayName: String?
    /// Whether all identities of the account are guest identities.
    package var isAnonymous: Bool
    /// The distinct providers of the account's identities, the oldest first.
    package var providers: [String]
    package var metadata: JSONValue
    package var createdAt, updatedAt: Date
    package var access = AccountAccess()

    package init(
        uid: UUID, email: String?, phone: String?, displayName: String?, isAnonymous: Bool, providers: [String],
        metadata: JSONValue, createdAt: Date, updatedAt: Date
    ) {
        (self.uid, self.email, self.phone, self.displayName) = (uid, email, phone, displayName)
        (self.isAnonymous, self.providers, self.metadata) = (isAnonymous, providers, metadata)
        (self.createdAt, self.updatedAt) = (createdAt, updatedAt)
    }
}
