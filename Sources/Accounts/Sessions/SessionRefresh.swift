/// What presenting a refresh token did.
package enum RefreshOutcome: Sendable {
    /// The presented token's one successor is now, or still, good.
    case succeeded(SessionGrant)
    /// Unknown, expired, or of a session that has ended.
    case refused
    /// A spent token came back too late: the session has been ended.
    case reused
}

/// Rotation of refresh tokens.
///
/// A token's successor is derived from it, so the row of the successor is at once the proof that the token was
/// presented, and when: rotation is a single insert, a hundred parallel presentations agree on one successor, and a
/// lost answer costs nobody their session. The row of the successor's own successor tells whether the successor has
/// been presented: as long as it has not, the token is good again, but for the recovery time at most.
package struct SessionRefresh: Sendable {
    let store: any RefreshStore
    let tokens: SessionTokens

    /// - Throws: `AccountsError.invalidRefreshToken`.
    package func refresh(_ text: String, in application: Application) async throws -> TokenPair {
        guard let presented = tokens.opaque.parse(text) else { throw AccountsError.invalidRefreshToken }
        let successor = tokens.opaque.successor(of: presented)
        let rotation = Rotation(
            presented: presented.hash, successor: successor.hash,
            afterSuccessor: tokens.opaque.successor(of: successor).hash,
            reuseInterval: application.policy.tokens.refreshReuseInterval,
            recovery: application.policy.tokens.refreshRecovery, lifetime: application.policy.tokens.refreshLifetime)
        // Its session may go just then, with its account.
        switch try await retryingOnConflict({ try await store.rotate(rotation, application: application.id) }) {
        case .succeeded(let grant):
            return try await tokens.pair(for: grant, refreshToken: successor, in: application)
        case .refused, .reused:
            throw AccountsError.invalidRefreshToken
        }
    }
}

/// The hashes of a presented token and of the two that follow from it.
package struct Rotation: Sendable {
    package let presented: [UInt8]
    package let successor: [UInt8]
    package let afterSuccessor: [UInt8]
    package let reuseInterval: Duration
    /// How long a token is good again while its successor has not been presented.
    package let recovery: Duration
    package let lifetime: Duration
}
