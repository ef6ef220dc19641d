internal import Foundation
package import ProviderKit

/// The tokens of a session: a signed access token and an opaque refresh token.
package struct TokenPair: Sendable {
    package let accessToken, refreshToken: String
    package let issuedAt, expiresAt: Int
    /// The claims of the provider's profile that the access token contains.
    package let exposed: [String: JSONValue]

    package var expiresIn: Int { expiresAt - issuedAt }

    /// The tokens of a session that a cookie keeps: none.
    static let none = TokenPair(accessToken: "", refreshToken: "", issuedAt: 0, expiresAt: 0, exposed: [:])
}

package struct SignedIn: Sendable {
    package let session: OpenedSession
    /// Empty for a session that a cookie keeps.
    package let tokens: TokenPair
}

/// Makes refresh tokens, and signs access tokens of opened sessions.
package struct SessionTokens: Sendable {
    package let opaque: any OpaqueTokens
    private let access: any AccessTokens
    package let time: any TimeSource

    package init(opaque: any OpaqueTokens, access: any AccessTokens, time: any TimeSource) {
        (self.opaque, self.access, self.time) = (opaque, access, time)
    }

    package func newSession(
        by evidence: VerifiedIdentity, of provider: String, from client: Client, in application: Application
    ) -> NewSession {
        let refreshToken = client.cookie == nil ? opaque.make() : nil
        return NewSession(by: evidence, of: provider, from: client, in: application, refreshToken: refreshToken)
    }

    package func signedIn(
        _ session: OpenedSession, refreshToken: OpaqueToken?, in application: Application
    ) async throws -> SignedIn {
        guard let refreshToken else { return SignedIn(session: session, tokens: .none) }
        let tokens = try await pair(for: session.grant, refreshToken: refreshToken, in: application)
        return SignedIn(session: session, tokens: tokens)
    }

    package func pair(
        for grant: SessionGrant, refreshToken: OpaqueToken, in application: Application
    ) async throws -> TokenPair {
        let issuedAt = Int(time.now().timeIntervalSince1970)
        let lifetime = Int(application.policy.tokens.accessLifetime.components.seconds)
        let sessionEnd = Int(grant.expiresAt.timeIntervalSince1970)
        let expiresAt = max(issuedAt, min(issuedAt + lifetime, sessionEnd))
        var claims = AccessTokenClaims(
            issuer: application.issuer, audience: application.audience, uid: grant.uid, sessionID: grant.sessionID,
            tokenID: .v7(), issuedAt: issuedAt, expiresAt: expiresAt,
            authenticatedAt: Int(grant.authenticatedAt.timeIntervalSince1970), methods: grant.methods,
            generation: grant.generation, provider: grant.provider, providerUid: grant.providerUid, email: grant.email,
            emailVerified: grant.email.map { _ in true }, phone: grant.phone,
            phoneVerified: grant.phone.map { _ in true },
            exposed: application.providers.exposed(grant.profile, of: grant.provider))
        claims.isBorrowed = grant.isBorrowed
        return TokenPair(
            accessToken: try await access.sign(claims, for: application), refreshToken: refreshToken.text,
            issuedAt: issuedAt, expiresAt: expiresAt, exposed: claims.exposed)
    }
}
