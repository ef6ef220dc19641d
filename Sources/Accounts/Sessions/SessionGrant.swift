package import Foundation
package import ProviderKit

/// A live session, with the data for its access tokens.
package struct SessionGrant: Sendable, Equatable {
    package var sessionID, uid: UUID
    package var authenticatedAt: Date
    /// When the session expires; none of its tokens is valid longer.
    package var expiresAt: Date
    /// How often the session was renewed; each renewal invalidates its older tokens.
    package var generation: Int32
    /// Whether another device or an app has opened the session, and nothing was proven in it since.
    package var isBorrowed = false
    package var methods: [String]
    package var provider, providerUid: String
    /// The account's first verified e-mail address; `phone` is its first verified number.
    package var email: String?
    package var phone: String?
    /// The profile that the identity's provider last reported.
    package var profile: [String: JSONValue]
    package var access = AccountAccess()
    /// What an OpenID client's token is for; `nil` for a session of the REST interface.
    package var clientScope: ClientScope?

    package init(
        sessionID: UUID, uid: UUID, authenticatedAt: Date, expiresAt: Date, generation: Int32 = 0, methods: [String],
        provider: String, providerUid: String, email: String?, phone: String?, profile: [String: JSONValue] = [:]
    ) {
        (self.sessionID, self.uid, self.authenticatedAt) = (sessionID, uid, authenticatedAt)
        (self.expiresAt, self.generation, self.methods, self.provider) = (expiresAt, generation, methods, provider)
        (self.providerUid, self.email, self.phone, self.profile) = (providerUid, email, phone, profile)
    }
}

/// A session that was just opened, with the data for the response to a sign-in.
package struct OpenedSession: Sendable {
    package var grant: SessionGrant
    package var user: User
    package var identityID: UUID
    package var identityCreatedAt: Date
    package var identityDisplayName: String?
    package var isNewAccount: Bool
    /// Whether an admin requires a new password.
    package var shouldChangePassword: Bool

    package init(
        grant: SessionGrant, user: User, identityID: UUID, identityCreatedAt: Date, identityDisplayName: String?,
        isNewAccount: Bool, shouldChangePassword: Bool
    ) {
        (self.grant, self.user, self.identityID) = (grant, user, identityID)
        (self.identityCreatedAt, self.identityDisplayName) = (identityCreatedAt, identityDisplayName)
        (self.isNewAccount, self.shouldChangePassword) = (isNewAccount, shouldChangePassword)
    }
}
