internal import Accounts
internal import Foundation
internal import ProviderKit

/// The response to every sign-in.
struct SessionResponse: ResponsePayload {
    let signedIn: SignedIn

    init(_ signedIn: SignedIn) { self.signedIn = signedIn }

    static let fields = ResponseFields<Self>("SessionResponse") {
        Field(flattening: { TokenResponse($0.signedIn.tokens) })
        Field("isNewAccount", \.signedIn.session.isNewAccount)
        Field("user") { UserPayload($0.signedIn.session.user) }
        Field("auth") { AuthPayload(signedIn: $0.signedIn) }
        // Present only if an administrator requires a new password.
        Field("shouldChangePassword", ifAny: { $0.signedIn.session.shouldChangePassword ? true : nil })
    }
}

/// The response to a refresh.
struct TokenResponse: ResponsePayload {
    let tokens: TokenPair

    init(_ tokens: TokenPair) { self.tokens = tokens }

    static let fields = ResponseFields<Self>("TokenResponse") {
        Field("accessToken", \.tokens.accessToken)
        Field("tokenType", as: .bearerType) { _ in "Bearer" }
        Field("expiresIn", \.tokens.expiresIn)
        Field("refreshToken", \.tokens.refreshToken)
    }
}

/// An account, as shown to its owner.
struct UserPayload: ResponsePayload {
    let user: User

    init(_ user: User) { self.user = user }

    static let fields = ResponseFields<Self>("User") {
        Field("id", \.user.uid)
        Field("email", orNull: \.user.email)
        Field("emailVerified") { $0.user.email != nil }
        Field("phone", orNull: \.user.phone)
        Field("phoneVerified") { $0.user.phone != nil }
        Field("displayName", orNull: \.user.displayName)
        Field("isAnonymous", \.user.isAnonymous)
        Field("authProviders", \.user.providers)
        Field("metadata", \.user.metadata)
        Field("createdAt", \.user.createdAt)
        Field("updatedAt", \.user.updatedAt)
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
        Field("displayName", orNull: { $0.session.identityDisplayName ?? $0.session.user.displayName })
        Field("email", ifAny: \.session.grant.email)
        Field("phone", ifAny: \.session.grant.phone)
    }
}

/// The live sessions of an account.
struct SessionList: ResponsePayload {
    struct Entry: ResponsePayload {
        let listing: ListedSession
        let isCurrent: Bool

        static let fields = ResponseFields<Self>("SessionListEntry") {
            Field("id", \.listing.id)
            Field("device", orNull: \.listing.device)
            Field("address", orNull: \.listing.address)
            Field("createdAt", \.listing.createdAt)
            Field("lastSeenAt", \.listing.lastSeenAt)
            Field("current", \.isCurrent)
        }
    }

    let sessions: [Entry]

    init(_ listings: [ListedSession], current: UUID) {
        sessions = listings.map { Entry(listing: $0, isCurrent: $0.id == current) }
    }

    static let fields = ResponseFields<Self>("SessionList") { Field("sessions", \.sessions) }
}
