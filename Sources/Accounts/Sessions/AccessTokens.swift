package import Foundation
package import ProviderKit

/// The claims of an access token (RFC 7519, and RFC 9068 where it applies).
package struct AccessTokenClaims: Sendable, Equatable {
    package var issuer, audience: String
    package var uid, sessionID, tokenID: UUID
    /// The time of issue in whole seconds since the epoch, the unit of all times here.
    package var issuedAt: Int
    package var expiresAt, authenticatedAt: Int
    package var methods: [String]
    /// How often the session had been renewed when the token was signed.
    package var generation: Int32
    /// Whether the session was opened by another device or by an app, and nothing was proven in it since.
    package var isBorrowed = false
    /// Whether an OpenID client has the token; not signed here.
    package var isOfClient = false
    package var provider, providerUid: String
    package var email: String?
    package var emailVerified: Bool?
    package var phone: String?
    package var phoneVerified: Bool?
    /// The claims of the provider's profile that the application exposes.
    package var exposed: [String: JSONValue]
    /// The account's roles and claims; empty in a verified token, because the server does not decide by them.
    package var access = AccountAccess()

    package init(
        issuer: String, audience: String, uid: UUID, sessionID: UUID, tokenID: UUID, issuedAt: Int, expiresAt: Int,
        authenticatedAt: Int, methods: [String], generation: Int32 = 0, provider: String, providerUid: String,
        email: String? = nil, emailVerified: Bool? = nil, phone: String? = nil, phoneVerified: Bool? = nil,
        exposed: [String: JSONValue] = [:]
    ) {
        (self.issuer, self.audience, self.uid, self.sessionID) = (issuer, audience, uid, sessionID)
        (self.tokenID, self.issuedAt, self.expiresAt) = (tokenID, issuedAt, expiresAt)
        (self.authenticatedAt, self.methods, self.generation) = (authenticatedAt, methods, generation)
        (self.provider, self.providerUid, self.email) = (provider, providerUid, email)
        (self.emailVerified, self.phone, self.phoneVerified) = (emailVerified, phone, phoneVerified)
        self.exposed = exposed
    }
}

/// Signs and verifies access tokens with the keys of their application.
package protocol AccessTokens: Sendable {
    func sign(_ claims: AccessTokenClaims, for application: Application) async throws -> String

    /// Checks the signature, `kid`, `alg`, `typ`, `iss`, `aud` and the times, but not whether the session is live.
    /// - Throws: `AccountsError.invalidToken`.
    func verify(_ token: String, for application: Application) async throws -> AccessTokenClaims

    /// The account that a text names if it is an access token, which is not checked.
    func unverifiedAccount(of token: String) -> UUID?
}
