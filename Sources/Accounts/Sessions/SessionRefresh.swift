package enum RefreshOutcome: Sendable {
    /// The token's successor is valid, as a result of this call or an earlier one.
    case succeeded(SessionGrant)
    /// The token is unknown or expired, or its session has ended.
    case refused
    /// A used token was presented again after the allowed time, which ended the session.
    case reused
    /// The client asks for more than the token's scopes and resources; the token is not used up.
    case unsuitable(ClientScope, isBorrowed: Bool)
}

/// Rotates refresh tokens.
///
/// A token's successor is derived from the token, so the existence of the successor's row records that the token was
/// presented, and when. Rotation is therefore a single insert, and concurrent presentations get the same successor. A
/// client that lost the response can present the token again for a time, until the successor itself is presented.
package struct SessionRefresh: Sendable {
    let store: any RefreshStore
    let tokens: SessionTokens

    /// - Throws: `AccountsError.invalidRefreshToken`.
    package func refresh(_ text: String, in application: Application) async throws -> TokenPair {
        guard let presented = tokens.opaque.parse(text) else { throw AccountsError.invalidRefreshToken }
        let successor = tokens.opaque.successor(of: presented)
        let rotation = Rotation(
            of: presented, to: successor, then: tokens.opaque.successor(of: successor),
            policy: application.policy.tokens)
        // A conflict is possible if the account is erased concurrently, together with the session.
        switch try await retryingOnConflict({ try await store.rotate(rotation, application: application.id) }) {
        case .succeeded(let grant): return try await tokens.pair(for: grant, refreshToken: successor, in: application)
        case .refused, .reused, .unsuitable: throw AccountsError.invalidRefreshToken
        }
    }
}

/// The hashes of a presented token and of its two successors.
package struct Rotation: Sendable {
    package let presented, successor, afterSuccessor: [UInt8]
    package let reuseInterval: Duration
    /// How long the token can be presented again if its successor has not been presented yet.
    package let recovery: Duration
    package let lifetime: Duration
    /// The client and issuer that the token must have been issued to and by; `nil` for the REST interface.
    package var client: (id: String, issuer: String)?
    /// What the client asks for; not used without a client.
    package var target = TokenTarget()

    /// The rotation of a token by the application's policy; `lifetime` is that of the successor.
    package init(
        of presented: OpaqueToken, to successor: OpaqueToken, then afterSuccessor: OpaqueToken,
        policy: ApplicationPolicy.Tokens, lifetime: Duration? = nil
    ) {
        self.presented = presented.hash
        self.successor = successor.hash
        self.afterSuccessor = afterSuccessor.hash
        reuseInterval = policy.refreshReuseInterval
        recovery = policy.refreshRecovery
        self.lifetime = lifetime ?? policy.refreshLifetime
    }
}
