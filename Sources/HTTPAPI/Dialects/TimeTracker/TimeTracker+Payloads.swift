internal import Accounts
internal import Foundation
internal import ProviderKit

/// The code of a flow, as the app presents it.
struct TimeTrackerCode: RequestPayload {
    let code, state, redirectURI: String
    let codeVerifier: JSONValue?

    static let fields = RequestFields(
        Self.init, .init("code"), .init("state"), .init("redirect_uri"), .init("code_verifier"))

    /// - Throws: `.missingParameter` for an empty text; `AccountsError.invalidToken` for a verifier, since no flow of the
    ///   dialect has a challenge that it could match (RFC 9700, 4.8.2).
    var body: CodeBody {
        get throws {
            guard !code.isEmpty, !state.isEmpty else { throw APIError(.missingParameter, "code or state is empty") }
            guard codeVerifier == nil else { throw AccountsError.invalidToken }
            return CodeBody(
                code: code, state: state, redirectURI: redirectURI, codeVerifier: nil, ticket: nil, remember: nil)
        }
    }
}

/// An account, as the app knows it.
struct TimeTrackerUser: ResponsePayload {
    let user: User
    /// The profile of the identity that signed in.
    let profile: [String: JSONValue]

    /// A name to show, which is neither unique nor a key.
    private var username: String {
        if let name = profile["preferred_username"]?.string, !name.isEmpty { return name }
        return user.displayName ?? user.uid.text
    }

    static let fields = ResponseFields<Self>("TimeTrackerUser") {
        Field("id", \.user.uid)
        Field("username", \.username)
        Field("fullName", orNull: \.user.displayName)
        // The app's model has no null here.
        Field("email") { $0.user.email ?? "" }
    }
}

/// The response to a sign-in.
struct TimeTrackerSession: ResponsePayload {
    let signedIn: SignedIn

    init(_ signedIn: SignedIn) { self.signedIn = signedIn }

    /// The seconds until the access token or, with a session bearer, the session ends.
    private var expiresIn: Int {
        let (tokens, grant) = (signedIn.tokens, signedIn.session.grant)
        guard SessionBearer.isForm(of: tokens.accessToken) else { return tokens.expiresIn }
        return max(0, Int(grant.expiresAt.timeIntervalSince1970) - tokens.issuedAt)
    }

    static let fields = ResponseFields<Self>("TimeTrackerSession") {
        Field("access_token", \.signedIn.tokens.accessToken)
        Field("token_type", as: .bearerType) { _ in "Bearer" }
        Field("expires_in", \.expiresIn)
        Field("user") { TimeTrackerUser(user: $0.signedIn.session.user, profile: $0.signedIn.session.grant.profile) }
    }
}

struct TimeTrackerFarewell: ResponsePayload {
    static let fields = ResponseFields<Self>("TimeTrackerFarewell") {
        Field("message") { _ in "Logged out successfully" }
    }
}
