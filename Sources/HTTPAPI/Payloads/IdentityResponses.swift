package import Accounts
internal import ProviderKit

/// An identity, as shown to its owner.
extension ListedIdentity: ResponsePayload {
    package static let fields = ResponseFields<Self>("Identity") {
        Field("id", \.identity.id)
        Field("provider", \.identity.provider)
        Field("providerUid", \.identity.providerUid)
        Field("email", orNull: \.identity.email?.value)
        Field("emailVerified", \.identity.emailVerified)
        Field("phone", orNull: \.identity.phone?.value)
        Field("phoneVerified", \.identity.phoneVerified)
        Field("displayName", orNull: \.identity.displayName)
        Field("createdAt", \.identity.createdAt)
        Field("lastUsedAt", orNull: \.identity.lastUsedAt)
        // Whether this identity opened the session of this request.
        Field("current", \.isCurrent)
        // Whether the identity was linked shortly before a password reset; it then opens no session until another
        // sign-in of the account.
        Field("quarantined", \.identity.isQuarantined)
    }
}

struct IdentityList: ResponsePayload {
    let identities: [ListedIdentity]

    static let fields = ResponseFields<Self>("IdentityList") { Field("identities", \.identities) }
}

struct IdentityRemovalResponse: ResponsePayload {
    let accountDeleted: Bool

    static let fields = ResponseFields<Self>("IdentityRemovalResponse") { Field("accountDeleted", \.accountDeleted) }
}
