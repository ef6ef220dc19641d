package import Accounts
internal import Foundation
internal import OpenID
internal import Pages
internal import ProviderKit

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
