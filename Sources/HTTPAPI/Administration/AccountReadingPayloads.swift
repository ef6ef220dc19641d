internal import Accounts
package import Administration
internal import Foundation
internal import ProviderKit

// MARK: - Requests

extension RevealedField: SentChoice {}

/// The fields to be shown unmasked.
struct RevealBody: RequestPayload {
    let fields: [RevealedField]

    static let fields = RequestFields(Self.init, .init("fields"))
}

// MARK: - Accounts

/// An account in a list, masked.
extension FoundAccount: ResponsePayload, NamedList {
    static let listName = "AdminAccountList"

    package static let fields = ResponseFields<Self>("FoundAccount") {
        Field(flattening: \.account)
        Field("masked", \.account.masked)
        // Why a search has found it.
        Field("matchedBy", as: .choice(of: SearchMatch.self), ifAny: { $0.match?.rawValue })
    }
}

extension MaskedAccount: ResponsePayload {
    package static let fields = ResponseFields<Self>("MaskedAccount") {
        // Null for a sign-up that waits for its confirmation.
        Field("uid", orNull: \.uid)
        Field("status", as: .choice(of: AccountState.self), orNull: { $0.state?.rawValue })
        Field("createdAt", \.createdAt)
        Field("updatedAt", orNull: \.updatedAt)
        Field("displayName", orNull: \.displayName)
        Field("email", orNull: \.email)
        Field("emailVerified", \.emailVerified)
        Field("phone", orNull: \.phone)
        Field("phoneVerified", \.phoneVerified)
        Field("isAnonymous", \.isAnonymous)
        Field("authProviders", \.providers)
        Field("roles", \.roles)
        Field("disabledAt", orNull: \.disabledAt)
        Field("disabledUntil", orNull: \.disabledUntil)
        Field("deletedAt", orNull: \.deletedAt)
        Field("purgeAfter", orNull: \.purgeAfter)
    }
}

/// Everything about an account that is shown without a reason, masked.
extension MaskedAccountDetail: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminAccount") {
        Field(flattening: \.account)
        Field("claims", as: .metadata) { JSONValue.object($0.claims) }
        // The names of the members.
        Field("metadata", as: .metadata, \.metadata)
        // The receipt of the deletion that is under way.
        Field("receipt", orNull: \.activity.receipt)
        Field("lastSeenAt", orNull: \.activity.lastSeenAt)
        Field("identities", \.identities)
        Field("usableIdentities", \.usableIdentities)
        Field("liveSessions", \.liveSessions)
        Field("locks", \.activity.lockouts)
        Field("pending", \.activity.pending)
        // Present if the path names an account that this one has absorbed.
        Field("alias", ifAny: { $0.isAlias ? true : nil })
        Field("masked", \.masked)
    }
}

extension AccountLockout: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminAccountLock") {
        Field("kind", as: .choice(of: Kind.self), \.kind.rawValue)
        Field("name", \.name)
        Field("until", \.until)
    }
}

extension PendingStep: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminAccountPending") {
        Field("kind", \.kind)
        Field("until", \.until)
    }
}

// MARK: - What an account has

/// An identity, as its owner sees it, and whether it can sign in.
extension ShownIdentity: ResponsePayload, NamedList {
    static let listName = "AdminIdentityList"

    package static let fields = ResponseFields<Self>("AdminIdentity") {
        Field("id", \.id)
        Field("provider", \.provider)
        Field("providerUid", \.providerUid)
        Field("email", orNull: \.email)
        Field("emailVerified", \.emailVerified)
        Field("phone", orNull: \.phone)
        Field("phoneVerified", \.phoneVerified)
        Field("displayName", orNull: \.displayName)
        Field("createdAt", \.createdAt)
        Field("lastUsedAt", orNull: \.lastUsedAt)
        // An administrator has no session of the account.
        Field("current") { _ in false }
        Field("quarantined", \.isQuarantined)
        Field("usable") { $0.obstacle == nil }
        Field("unusableBecause", as: .choice(of: SignInObstacle.self), orNull: { $0.obstacle?.rawValue })
    }
}

extension SessionList.Entry: NamedList {
    static let listName = "AdminSessionList"
}

extension Merge: NamedList {
    static let listName = "AdminMergeList"
}

/// The fields that were asked for; the others are absent.
struct RevealedFields: ResponsePayload {
    let account: RevealedAccount
    let sessions: [SessionList.Entry]

    static let fields = ResponseFields<Self>("RevealedFields") {
        Field("email", as: JSONSchema.string.nullable, ifAny: { $0.value(.email, $0.account.user.email) })
        Field("phone", as: JSONSchema.string.nullable, ifAny: { $0.value(.phone, $0.account.user.phone) })
        Field(
            "displayName", as: JSONSchema.string.nullable,
            ifAny: { $0.value(.displayName, $0.account.user.displayName) })
        Field("metadata", as: .metadata, ifAny: { $0.has(.metadata) ? $0.account.user.metadata : nil })
        Field("identities", ifAny: { $0.has(.identities) ? $0.account.identities : nil })
        Field("sessions", ifAny: { $0.has(.sessions) ? $0.sessions : nil })
    }

    private func has(_ field: RevealedField) -> Bool { account.fields.contains(field) }

    /// The value of a field that was asked for, which may be `null`.
    private func value(_ field: RevealedField, _ text: String?) -> JSONValue? {
        has(field) ? text.map { .string($0) } ?? .null : nil
    }
}
