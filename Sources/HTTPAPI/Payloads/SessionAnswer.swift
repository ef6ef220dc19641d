internal import Accounts
internal import Foundation
internal import ProviderKit

/// What every sign-in answers.
struct SessionAnswer: Codable, Sendable {
    let accessToken: String
    let tokenType: String
    let expiresIn: Int
    let refreshToken: String
    let isNewAccount: Bool
    let user: UserPayload
    let auth: AuthPayload
    /// Only where an admin has asked for a new password.
    let shouldChangePassword: Bool?

    init(_ signedIn: SignedIn) {
        let (session, tokens) = (signedIn.session, signedIn.tokens)
        accessToken = tokens.accessToken
        tokenType = "Bearer"
        expiresIn = tokens.expiresIn
        refreshToken = tokens.refreshToken
        isNewAccount = session.isNewAccount
        user = UserPayload(session.user)
        auth = AuthPayload(session, tokens: tokens)
        shouldChangePassword = session.shouldChangePassword ? true : nil
    }
}

/// The identity that signed in.
///
/// Times are whole seconds since the epoch.
struct AuthPayload: Codable, Sendable {
    let uid: String
    let provider: String
    let providerUid: String
    /// The identity's creation, not the account's.
    let createdAt: Int
    let expires: Int
    @Nullable var displayName: String?
    let email: String?
    let phone: String?

    init(_ session: OpenedSession, tokens: TokenPair) {
        uid = session.grant.uid.text
        provider = session.grant.provider
        providerUid = session.grant.providerUid
        createdAt = Int(session.identityCreatedAt.timeIntervalSince1970)
        expires = tokens.expiresAt
        displayName = session.identityDisplayName ?? session.user.displayName
        email = session.grant.email
        phone = session.grant.phone
    }
}

/// What a refresh answers.
struct TokenAnswer: Codable, Sendable {
    let accessToken: String
    let tokenType: String
    let expiresIn: Int
    let refreshToken: String

    init(_ tokens: TokenPair) {
        accessToken = tokens.accessToken
        tokenType = "Bearer"
        expiresIn = tokens.expiresIn
        refreshToken = tokens.refreshToken
    }
}
