package import Accounts
package import Foundation
package import ProviderKit

/// An account in a list of administrators, or a sign-up that has no account yet.
package struct MaskedAccount: Sendable {
    /// `nil` for a sign-up that waits for its confirmation, as is `state`.
    package let uid: UUID?
    package let state: AccountState?
    package let createdAt: Date
    package let updatedAt: Date?
    package let displayName: String?
    package private(set) var email, phone: String?
    package private(set) var emailVerified, phoneVerified: Bool
    package let isAnonymous: Bool
    package let providers, roles: [String]
    package let disabledAt, disabledUntil, deletedAt, purgeAfter: Date?

    package init(_ record: AccountRecord) {
        let user = record.user
        (uid, state, createdAt, updatedAt) = (user.uid, record.state, user.createdAt, user.updatedAt)
        displayName = user.displayName.map(Mask.name)
        (email, phone) = (user.email.map(Mask.email), user.phone.map(Mask.phone))
        (emailVerified, phoneVerified) = (user.email != nil, user.phone != nil)
        (isAnonymous, providers, roles) = (user.isAnonymous, user.providers, user.access.roles)
        (disabledAt, disabledUntil) = (record.disabledAt, record.disabledUntil)
        (deletedAt, purgeAfter) = (record.deletedAt, record.purgeAfter)
    }

    init(_ signUp: PendingSignUp) {
        (uid, state, createdAt, updatedAt) = (nil, nil, signUp.createdAt, nil)
        displayName = signUp.displayName.map(Mask.name)
        (email, phone, emailVerified, phoneVerified) = (Mask.email(signUp.address), nil, false, false)
        (isAnonymous, providers, roles) = (false, [signUp.provider], [])
        (disabledAt, disabledUntil, deletedAt, purgeAfter) = (nil, nil, nil, nil)
    }

    /// The same account, shown with an address that it claims without having proved it.
    func claiming(_ address: Address) -> MaskedAccount {
        var account = self
        switch address {
        case .email: (account.email, account.emailVerified) = (Mask.address(address), false)
        case .phone: (account.phone, account.phoneVerified) = (Mask.address(address), false)
        }
        return account
    }

    /// The fields that are masked, by their names on the wire.
    package var masked: [String] {
        [("displayName", displayName), ("email", email), ("phone", phone)].filter { $0.1 != nil }.map(\.0)
    }
}

/// Everything about an account that administrators see without a reason.
package struct MaskedAccountDetail: Sendable {
    package let account: MaskedAccount
    package let claims: [String: JSONValue]
    /// The names of the members.
    package let metadata: JSONValue
    /// Whether the account was asked for by the uid of one that it has absorbed.
    package let isAlias: Bool
    package let activity: AccountActivity
    package let identities, usableIdentities, liveSessions: Int

    /// The fields that are masked; metadata always is.
    package var masked: [String] { (account.masked + ["metadata"]).sorted() }
}

/// An identity as administrators see it.
package struct ShownIdentity: Sendable {
    package let id: UUID
    package let provider, providerUid: String
    package let email, phone, displayName: String?
    package let emailVerified, phoneVerified, isQuarantined: Bool
    package let createdAt: Date
    package let lastUsedAt: Date?
    /// Why the identity cannot sign in; `nil` if it can.
    package let obstacle: SignInObstacle?

    /// Shows the identity with its texts as they are, or masked.
    init(_ identity: Identity, obstacle: SignInObstacle?, isMasked: Bool) {
        func shown(_ text: String?, _ mask: (String) -> String) -> String? { isMasked ? text.map(mask) : text }
        (id, provider, self.obstacle) = (identity.id, identity.provider, obstacle)
        providerUid = isMasked ? Mask.providerUid(identity.providerUid) : identity.providerUid
        (email, emailVerified) = (shown(identity.email?.value, Mask.email), identity.emailVerified)
        (phone, phoneVerified) = (shown(identity.phone?.value, Mask.phone), identity.phoneVerified)
        (displayName, isQuarantined) = (shown(identity.displayName, Mask.name), identity.isQuarantined)
        (createdAt, lastUsedAt) = (identity.createdAt, identity.lastUsedAt)
    }
}

extension ListedSession {
    /// The session without the client's address, and without the name that a person gave an installation of an app.
    package var masked: ListedSession {
        var session = self
        session.address = address.map(Mask.clientAddress)
        if deviceType != nil { session.device = device.map(Mask.name) }
        return session
    }
}
