internal import Accounts
internal import Foundation
internal import ProviderKit

/// An identity, as shown to its owner.
struct IdentityPayload: ResponsePayload {
    let listed: ListedIdentity

    init(_ listed: ListedIdentity) { self.listed = listed }
    private var identity: Identity { listed.identity }

    static let fields = ResponseFields<Self>("Identity") {
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
        Field("current", \.listed.isCurrent)
        // Whether the identity was linked shortly before a password reset; it then opens no session until another
        // sign-in of the account.
        Field("quarantined", \.identity.isQuarantined)
    }
}

struct IdentityList: ResponsePayload {
    let identities: [IdentityPayload]

    static let fields = ResponseFields<Self>("IdentityList") { Field("identities", \.identities) }
}

struct IdentityRemovalResponse: ResponsePayload {
    let accountDeleted: Bool

    static let fields = ResponseFields<Self>("IdentityRemovalResponse") { Field("accountDeleted", \.accountDeleted) }
}

struct RegistrationResponse: ResponsePayload {
    let message: String
    let email: String

    static let fields = ResponseFields<Self>("RegistrationResponse") {
        Field("message", \.message)
        Field("email", \.email)
    }
}

struct MessageResponse: ResponsePayload {
    let message: String

    static let fields = ResponseFields<Self>("MessageResponse") { Field("message", \.message) }
}

/// A code that was sent; times are whole seconds, rounded up.
struct SentCodeResponse: ResponsePayload {
    let sent: SentCode

    init(_ sent: SentCode) { self.sent = sent }

    static let fields = ResponseFields<Self>("SentCodeResponse") {
        Field("challengeId", \.sent.id.text)
        Field("expiresIn", \.sent.expiresIn.secondsRoundedUp)
        Field("resendAfter", \.sent.resendAfter.secondsRoundedUp)
    }
}

/// The URL of the provider's page, for an app that opens the browser itself.
struct AuthorizationRedirectResponse: ResponsePayload {
    let url: String
    let state: String

    static let fields = ResponseFields<Self>("AuthorizationRedirectResponse") {
        Field("url", \.url)
        Field("state", \.state)
    }
}

/// The enabled providers of an application.
struct ProviderList: ResponsePayload {
    struct Entry: ResponsePayload {
        let provider: ConfiguredProvider

        static let fields = ResponseFields<Self>("ProviderListEntry") {
            Field("name", \.provider.name)
            Field("kind", \.provider.kind)
            Field("displayName", \.provider.displayName)
            Field("flow", as: .enumeration(["direct", "challenge", "redirect"]), \.provider.flow.rawValue)
        }
    }

    let providers: [Entry]

    init(_ registry: ProviderRegistry) { providers = registry.enabled.map { Entry(provider: $0) } }

    static let fields = ResponseFields<Self>("ProviderList") { Field("providers", \.providers) }
}
