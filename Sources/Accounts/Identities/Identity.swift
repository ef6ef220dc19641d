package import Foundation
package import ProviderKit

package struct Identity: Sendable, Equatable {
    package let id: UUID
    package let provider, providerUid: String
    package let isGuest: Bool
    package let email: EmailAddress?
    package let emailVerified: Bool
    package let phone: PhoneNumber?
    package let phoneVerified: Bool
    package let displayName: String?
    package let createdAt: Date
    package let lastUsedAt: Date?
    /// When the identity was added to the account, or got its current address.
    package let linkedAt: Date
    /// Whether a password reset blocked the identity until another sign-in to the account confirms it.
    package let isQuarantined: Bool

    package init(
        id: UUID, provider: String, providerUid: String, isGuest: Bool = false, email: EmailAddress? = nil,
        emailVerified: Bool = false, phone: PhoneNumber? = nil, phoneVerified: Bool = false, displayName: String? = nil,
        createdAt: Date, lastUsedAt: Date? = nil, linkedAt: Date? = nil, isQuarantined: Bool = false
    ) {
        (self.id, self.provider, self.providerUid, self.isGuest) = (id, provider, providerUid, isGuest)
        (self.email, self.emailVerified, self.phone) = (email, emailVerified, phone)
        (self.phoneVerified, self.displayName, self.createdAt) = (phoneVerified, displayName, createdAt)
        self.lastUsedAt = lastUsedAt
        self.linkedAt = linkedAt ?? createdAt
        self.isQuarantined = isQuarantined
    }

    /// Whether the address is the identity's `providerUid` or its verified address.
    func rests(on address: Address) -> Bool {
        providerUid == address.value || (phoneVerified && phone == address.phone && phone != nil)
            || (emailVerified && email == address.email && email != nil)
    }

    /// The provider's name and the address, without any text that a client can choose.
    package func name(in application: Application) -> String {
        let provider = application.providers.displayName(of: self.provider)
        return (email?.value ?? phone?.value).map { "\(provider) (\($0))" } ?? provider
    }
}

/// An identity in the list of the account's owner.
package struct ListedIdentity: Sendable {
    package let identity: Identity
    /// Whether it opened the session that requests the list.
    package let isCurrent: Bool

    package init(identity: Identity, isCurrent: Bool) {
        self.identity = identity
        self.isCurrent = isCurrent
    }
}
