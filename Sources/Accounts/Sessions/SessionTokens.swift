internal import Foundation
package import ProviderKit

/// What the client of a session sends with its calls, and what it renews that with.
package struct TokenPair: Sendable {
    /// A signed access token or a session bearer.
    package let accessToken: String
    /// `nil` unless the session is renewed by refresh tokens.
    package let refreshToken: String?
    /// In whole seconds since the epoch; a session bearer that is used lasts longer than `expiresAt`.
    package let issuedAt, expiresAt: Int
    /// The claims of the provider's profile that the access token contains.
    package let exposed: [String: JSONValue]

    package var expiresIn: Int { expiresAt - issuedAt }

    /// The tokens of a session that a cookie keeps: none.
    static let none = TokenPair(accessToken: "", refreshToken: nil, issuedAt: 0, expiresAt: 0, exposed: [:])
}

package struct SignedIn: Sendable {
    package let session: OpenedSession
    /// Empty for a session that a cookie keeps.
    package let tokens: TokenPair
    /// When the session ends unless it is renewed, in whole seconds since the epoch; `nil` if a cookie keeps it.
    package var sessionExpires: Int?
}

/// Makes the secrets of sessions, and signs access tokens of opened sessions.
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
        var session = NewSession(
            by: evidence, of: provider, from: client, in: application, secret: secret(for: client))
        if session.secret.bearer != nil {
            let device = "\(client.device ?? "")\n\(client.userAgent ?? "")"
            session.deviceMark = opaque.pseudonym(of: device, purpose: "device")
        }
        return session
    }

    private func secret(for client: Client) -> SessionSecret {
        guard client.cookie == nil else { return .cookie }
        return switch client.renewal {
        case .refresh: .refreshToken(opaque.make())
        case .none: .none
        case .bearer(let lifetime): .bearer(SessionBearer.make(by: opaque), lifetime)
        }
    }

    package func signedIn(
        _ session: OpenedSession, secret: SessionSecret, in application: Application
    ) async throws -> SignedIn {
        let tokens: TokenPair =
            switch secret {
            case .cookie: .none
            case .none: try await pair(for: session.grant, refreshToken: nil, in: application)
            case .refreshToken(let token): try await pair(for: session.grant, refreshToken: token, in: application)
            case .bearer(let bearer, let lifetime): self.bearer(bearer, lifetime, of: session.grant, in: application)
            }
        return SignedIn(
            session: session, tokens: tokens,
            sessionExpires: end(of: session.grant, with: tokens, by: secret, in: application))
    }

    /// When a session that was just opened ends unless it is renewed: a renewal can be too late for its secret, and for
    /// the session.
    private func end(
        of grant: SessionGrant, with tokens: TokenPair, by secret: SessionSecret, in application: Application
    ) -> Int? {
        switch secret {
        case .cookie: nil
        case .none, .bearer: tokens.expiresAt
        case .refreshToken:
            min(
                Int(grant.expiresAt.timeIntervalSince1970),
                tokens.issuedAt + Int(application.policy.tokens.refreshLifetime.components.seconds))
        }
    }

    private func bearer(
        _ bearer: OpaqueToken, _ lifetime: BearerLifetime, of grant: SessionGrant, in application: Application
    ) -> TokenPair {
        let issuedAt = Int(time.now().timeIntervalSince1970)
        let idle = Int(lifetime.idle.components.seconds)
        let sessionEnd = Int(grant.expiresAt.timeIntervalSince1970)
        return TokenPair(
            accessToken: bearer.text, refreshToken: nil, issuedAt: issuedAt,
            expiresAt: max(issuedAt, min(issuedAt + idle, sessionEnd)),
            exposed: application.providers.exposed(grant.profile, of: grant.provider))
    }

    /// How much longer a session without renewal lives than its access token, whose times are whole seconds.
    ///
    /// Without it, the token would lose a second whenever one begins after the session was opened.
    package static let roundingMargin: Duration = .seconds(1)

    package func pair(
        for grant: SessionGrant, refreshToken: OpaqueToken?, in application: Application
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
        claims.access = grant.access
        return TokenPair(
            accessToken: try await access.sign(claims, for: application), refreshToken: refreshToken?.text,
            issuedAt: issuedAt, expiresAt: expiresAt, exposed: claims.exposed)
    }
}
