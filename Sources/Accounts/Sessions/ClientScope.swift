package import Foundation

/// What the tokens of an OpenID client are for.
package struct ClientScope: Sendable, Equatable {
    package var scopes, resources: [String]
    /// The claims that userinfo returns besides those of the scopes.
    package var claims: [String]
    /// The claims that ID tokens have besides those of the scopes.
    package var tokenClaims: [String] = []
    /// Whether the session was opened by a guest.
    package var isGuest: Bool
    /// What `tokenClaims` are read from; may be `nil` if there are none.
    package var account: AccountClaims?

    package init(scopes: [String], resources: [String], claims: [String], isGuest: Bool) {
        (self.scopes, self.resources, self.claims, self.isGuest) = (scopes, resources, claims, isGuest)
    }
}

/// What clients may learn about an account.
package struct AccountClaims: Sendable, Equatable {
    package var uid: UUID
    package var name, locale, email, phone: String?
    package var updatedAt: Date
    /// The accounts that were merged into it; userinfo alone needs them.
    package var absorbed: [UUID] = []

    package init(uid: UUID, name: String?, locale: String?, email: String?, phone: String?, updatedAt: Date) {
        (self.uid, self.name, self.locale, self.email, self.phone) = (uid, name, locale, email, phone)
        self.updatedAt = updatedAt
    }
}
