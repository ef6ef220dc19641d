package import Accounts
internal import Foundation
internal import OpenID
internal import Pages
internal import ProviderKit

// MARK: - Sessions

/// The response to every sign-in.
extension SignedIn: ResponsePayload {
    package static let fields = ResponseFields<Self>("SessionResponse") {
        Field(flattening: \.tokens)
        Field("isNewAccount", \.session.isNewAccount)
        Field("user", \.session.user)
        Field("auth") { AuthPayload(signedIn: $0) }
        // Present only if an administrator requires a new password.
        Field("shouldChangePassword", ifAny: { $0.session.shouldChangePassword ? true : nil })
    }
}

/// The response to a refresh.
extension TokenPair: ResponsePayload {
    package static let fields = ResponseFields<Self>("TokenResponse") {
        Field("accessToken", \.accessToken)
        Field("tokenType", as: .bearerType) { _ in "Bearer" }
        Field("expiresIn", \.expiresIn)
        // Sessions of this version of the API always have one.
        Field("refreshToken") { $0.refreshToken ?? "" }
    }
}

/// The identity that signed in; its times are whole seconds since the epoch.
///
/// The claims of the provider's profile that the application exposes are further members under their own names.
struct AuthPayload: ResponsePayload {
    let signedIn: SignedIn

    private var session: OpenedSession { signedIn.session }

    static let fields = ResponseFields<Self>("Auth", furtherMembers: \.signedIn.tokens.exposed) {
        Field("uid", \.session.grant.uid)
        Field("provider", \.session.grant.provider)
        Field("providerUid", \.session.grant.providerUid)
        // When the identity, not the account, was created.
        Field("createdAt") { Int($0.session.identityCreatedAt.timeIntervalSince1970) }
        Field("expires", \.signedIn.tokens.expiresAt)
        // When the session ends unless it is renewed.
        Field("sessionExpires", ifAny: \.signedIn.sessionExpires)
        Field("displayName", orNull: { $0.session.identityDisplayName ?? $0.session.user.displayName })
        Field("email", ifAny: \.session.grant.email)
        Field("phone", ifAny: \.session.grant.phone)
    }
}

/// The live sessions of an account.
struct SessionList: ResponsePayload {
    struct Entry: ResponsePayload {
        struct Client: ResponsePayload {
            let id, name: String

            static let fields = ResponseFields<Self>("SessionListClient") {
                Field("id", \.id)
                Field("name", \.name)
            }
        }

        let listing: ListedSession
        let client: Client?
        let isCurrent: Bool

        /// `issuer` names the client if the client is one of the operator's.
        init(_ session: ListedSession, isCurrent: Bool, at issuer: Issuer?) {
            (listing, self.isCurrent) = (session, isCurrent)
            client = session.client.map { id in
                Client(id: id, name: issuer?.configuredClient(id)?.name ?? session.clientName ?? id)
            }
        }

        private var device: String? {
            listing.device ?? listing.deviceType.map { DeviceWords.name(ofType: $0, in: .en) }
        }

        static let fields = ResponseFields<Self>("SessionListEntry") {
            Field("id", \.listing.id)
            Field("device", orNull: \.device)
            Field("address", orNull: \.listing.address)
            Field("createdAt", \.listing.createdAt)
            Field("lastSeenAt", \.listing.lastSeenAt)
            Field("expiresAt", \.listing.expiresAt)
            Field("current", \.isCurrent)
            Field("kind", as: .choice(of: SessionKind.self), \.listing.kind.rawValue)
            Field("client", orNull: \.client)
            Field("browser", orNull: \.listing.browser)
        }
    }

    let sessions: [Entry]

    static let fields = ResponseFields<Self>("SessionList") { Field("sessions", \.sessions) }
}

// MARK: - Accounts

/// An account, as shown to its owner.
extension User: ResponsePayload {
    package static let fields = ResponseFields<Self>("User") {
        Field("id", \.uid)
        Field("email", orNull: \.email)
        Field("emailVerified") { $0.email != nil }
        Field("phone", orNull: \.phone)
        Field("phoneVerified") { $0.phone != nil }
        Field("displayName", orNull: \.displayName)
        Field("isAnonymous", \.isAnonymous)
        Field("authProviders", \.providers)
        Field("metadata", \.metadata)
        // Only administrators change these.
        Field("roles", \.access.roles)
        Field("claims", as: .metadata) { JSONValue.object($0.access.claims) }
        Field("createdAt") { WholeSeconds($0.createdAt) }
        Field("updatedAt") { WholeSeconds($0.updatedAt) }
    }
}

/// The progress of a deletion.
extension ErasureStatus: ResponsePayload {
    package static let fields = ResponseFields<Self>("ErasureResponse") {
        Field("status", as: .enumeration(["scheduled", "restored", "erased"]), \.phase.rawValue)
        Field("requestedAt", \.requestedAt)
        Field("purgeAfter", \.purgeAfter)
        Field("erasedAt", ifAny: \.erasedAt)
        Field("processors", \.processors)
        // A JWS with the header `typ: erasure+jwt`.
        Field("certificate", ifAny: \.certificate)
    }
}

extension Processor: ResponsePayload {
    package static let fields = ResponseFields<Self>("ErasureResponseProcessor") {
        Field("name", \.name)
        Field("status", as: .enumeration(["pending", "acknowledged", "unreachable"])) { processor in
            switch processor.status {
            case .pending: "pending"
            case .acknowledged: "acknowledged"
            case .unreachable: "unreachable"
            }
        }
        Field("acknowledgedAt", ifAny: { if case .acknowledged(let date) = $0.status { date } else { nil } })
    }
}

// MARK: - Identities

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

// MARK: - Registration and providers

/// The response to a request for a new password, the same for known and unknown addresses.
struct MailedLinkResponse: ResponsePayload {
    static let fields = ResponseFields<Self>("MessageResponse") {
        Field("message") { _ in "If the address has an account, a mail with a link is on its way" }
    }
}

struct RegistrationResponse: ResponsePayload {
    let email: EmailAddress

    static let fields = ResponseFields<Self>("RegistrationResponse") {
        Field("message") { _ in "A mail with a link that confirms the address is on its way" }
        Field("email", \.email.value)
    }
}

/// A code that was sent; times are whole seconds, rounded up.
extension SentCode: ResponsePayload {
    package static let fields = ResponseFields<Self>("SentCodeResponse") {
        Field("challengeId", \.id.text)
        Field("expiresIn", \.expiresIn.secondsRoundedUp)
        Field("resendAfter", \.resendAfter.secondsRoundedUp)
    }
}

/// The URL of the provider's page, for an app that opens the browser itself.
extension AuthorizationRedirect: ResponsePayload {
    package static let fields = ResponseFields<Self>("AuthorizationRedirectResponse") {
        Field("url", \.url)
        Field("state", \.state)
    }
}

/// The enabled providers of an application, and its own pages.
struct ProviderList: ResponsePayload {
    let providers: [Entry]

    static let fields = ResponseFields<Self>("ProviderList") { Field("providers", \.providers) }

    /// `pages` is what the application's own pages are called; `nil` if it has none.
    init(of application: Application, pages: String?) {
        providers =
            application.providers.enabled.map { provider in
                Entry(
                    name: provider.name, kind: provider.kind, displayName: provider.displayName, flow: provider.flow)
            }
            + (pages.map { pages in
                let name = OwnClient.hostedProvider
                return [Entry(name: name, kind: name, displayName: pages, flow: .redirect)]
            } ?? [])
    }

    struct Entry: ResponsePayload {
        let name, kind, displayName: String
        let flow: ProviderFlow

        static let fields = ResponseFields<Self>("ProviderListEntry") {
            Field("name", \.name)
            Field("kind", \.kind)
            Field("displayName", \.displayName)
            Field("flow", as: .enumeration(["direct", "challenge", "redirect"]), \.flow.rawValue)
        }
    }
}
