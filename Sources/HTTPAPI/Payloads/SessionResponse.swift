internal import Accounts
internal import Foundation
internal import ProviderKit

/// What every sign-in answers.
struct SessionResponse: Codable, Sendable {
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

extension SessionResponse: DirectlyWritten {
    func write(to object: inout JSONObjectWriter) {
        object.add(CodingKeys.accessToken, accessToken)
        object.add(CodingKeys.tokenType, tokenType)
        object.add(CodingKeys.expiresIn, expiresIn)
        object.add(CodingKeys.refreshToken, refreshToken)
        object.add(CodingKeys.isNewAccount, isNewAccount)
        object.add(CodingKeys.user) { user.write(to: &$0) }
        object.add(CodingKeys.auth) { auth.write(to: &$0) }
        if let shouldChangePassword { object.add(CodingKeys.shouldChangePassword, shouldChangePassword) }
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
    /// Claims of the provider's profile that the application exposes, each under its own name.
    private let exposed: [String: JSONValue]

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case uid, provider, providerUid, createdAt, expires, displayName, email, phone
    }

    init(_ session: OpenedSession, tokens: TokenPair) {
        uid = session.grant.uid.text
        provider = session.grant.provider
        providerUid = session.grant.providerUid
        createdAt = Int(session.identityCreatedAt.timeIntervalSince1970)
        expires = tokens.expiresAt
        displayName = session.identityDisplayName ?? session.user.displayName
        email = session.grant.email
        phone = session.grant.phone
        exposed = tokens.exposed
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        uid = try container.decode(String.self, forKey: .uid)
        provider = try container.decode(String.self, forKey: .provider)
        providerUid = try container.decode(String.self, forKey: .providerUid)
        createdAt = try container.decode(Int.self, forKey: .createdAt)
        expires = try container.decode(Int.self, forKey: .expires)
        _displayName = try container.decode(Nullable<String>.self, forKey: .displayName)
        email = try container.decodeIfPresent(String.self, forKey: .email)
        phone = try container.decodeIfPresent(String.self, forKey: .phone)
        exposed = [:]
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(uid, forKey: .uid)
        try container.encode(provider, forKey: .provider)
        try container.encode(providerUid, forKey: .providerUid)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encode(expires, forKey: .expires)
        try container.encode(_displayName, forKey: .displayName)
        try container.encodeIfPresent(email, forKey: .email)
        try container.encodeIfPresent(phone, forKey: .phone)
        var claims = encoder.container(keyedBy: ClaimName.self)
        for (name, value) in exposed where CodingKeys(stringValue: name) == nil {
            try claims.encode(value, forKey: ClaimName(stringValue: name))
        }
    }

    private struct ClaimName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension AuthPayload: DirectlyWritten {
    func write(to object: inout JSONObjectWriter) {
        object.add(CodingKeys.uid, uid)
        object.add(CodingKeys.provider, provider)
        object.add(CodingKeys.providerUid, providerUid)
        object.add(CodingKeys.createdAt, createdAt)
        object.add(CodingKeys.expires, expires)
        object.add(CodingKeys.displayName, orNull: displayName)
        if let email { object.add(CodingKeys.email, email) }
        if let phone { object.add(CodingKeys.phone, phone) }
        for (name, value) in exposed where CodingKeys(stringValue: name) == nil { object.add(name, value) }
    }
}

/// What a refresh answers.
struct TokenResponse: Codable, Sendable {
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

extension TokenResponse: DirectlyWritten {
    func write(to object: inout JSONObjectWriter) {
        object.add(CodingKeys.accessToken, accessToken)
        object.add(CodingKeys.tokenType, tokenType)
        object.add(CodingKeys.expiresIn, expiresIn)
        object.add(CodingKeys.refreshToken, refreshToken)
    }
}

extension SessionResponse: DocumentedFields {
    static var fields: [String: JSONSchema] { ["tokenType": .enumeration(["Bearer"])] }
}

extension TokenResponse: DocumentedFields {
    static var fields: [String: JSONSchema] { ["tokenType": .enumeration(["Bearer"])] }
}

extension AuthPayload: DocumentedFields {
    static var fields: [String: JSONSchema] { ["uid": .uuid] }
}
