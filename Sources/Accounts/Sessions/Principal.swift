package import Foundation

package struct Principal: Sendable {
    package let application: Application
    package let uid, sessionID: UUID
    package let authenticatedAt: Int
    package let provider, providerUid: String
    /// Whether the session was opened by another device or by an app, and nothing was proven in it since.
    package var isBorrowed = false
    /// Whether the session is that of an OpenID client, whose token has the scope `account`.
    package var isOfClient = false
    /// How the session was authenticated.
    package var methods: [String] = []
    /// When the token that was presented ends, in seconds since the epoch.
    package var expiresAt = 0
    /// Until when the person's PIN unlocks the session of a session bearer; `nil` if it does not now.
    package var elevatedUntil: Date?
    /// The account to which a former guest was upgraded or switched, whose token permits only repeating that call.
    package var successor: UUID?

    package init(
        application: Application, uid: UUID, sessionID: UUID, authenticatedAt: Int, provider: String,
        providerUid: String
    ) {
        (self.application, self.uid, self.sessionID) = (application, uid, sessionID)
        (self.authenticatedAt, self.provider, self.providerUid) = (authenticatedAt, provider, providerUid)
    }

    var authenticationTime: Date { Date(timeIntervalSince1970: TimeInterval(authenticatedAt)) }

    /// Whether the person has authenticated recently enough for a sensitive call, and in this session itself.
    func isRecent(at time: Date) -> Bool {
        !isBorrowed && successor == nil && application.policy.isRecent(authenticationTime, now: time)
    }
}

/// Looks up which sessions have ended or were renewed, on any replica.
package protocol Revocations: Sendable {
    /// Whether the token's session has ended, or has been renewed since the token was issued.
    ///
    /// The result comes from memory while this replica receives revocations, otherwise from the session's row.
    /// - Throws: `AccountsError.unavailable` if the row cannot be read.
    func isRevoked(_ token: SessionToken, at time: Date, application: Application.ID) async throws -> Bool
}

extension Revocations {
    func isRevoked(_ token: AccessTokenClaims, at time: Date, application: Application.ID) async throws -> Bool {
        let token = SessionToken(
            sessionID: token.sessionID, issuedAt: token.issuedAt, generation: token.generation)
        return try await isRevoked(token, at: time, application: application)
    }
}

/// The session that an access token belongs to, and when the token was issued.
package struct SessionToken: Sendable {
    package let sessionID: UUID
    /// In whole seconds since the epoch.
    package let issuedAt: Int
    /// How often the session had been renewed when the token was signed.
    package let generation: Int32

    package init(sessionID: UUID, issuedAt: Int, generation: Int32) {
        (self.sessionID, self.issuedAt, self.generation) = (sessionID, issuedAt, generation)
    }
}

package struct BearerAuthentication: Sendable {
    let access: any AccessTokens
    let opaque: any OpaqueTokens
    let revocations: any Revocations
    typealias Store = GuestSuccessorStore & IdentityStore & SessionBearerStore

    let store: any Store
    let time: any TimeSource

    /// Verifies an access token or a session bearer and returns its principal.
    ///
    /// With `admittingFormerGuests`, the token of a guest that was upgraded or switched to another account is accepted
    /// for another minute, so that the client can repeat that call.
    /// - Throws: `AccountsError.invalidToken` if the token is invalid or its session has ended or was renewed.
    package func principal(
        presenting token: String, in application: Application, admittingFormerGuests: Bool = false
    ) async throws -> Principal {
        if SessionBearer.isForm(of: token) { return try await principal(ofBearer: token, in: application) }
        let claims = try await access.verify(token, for: application)
        var principal = Principal(
            application: application, uid: claims.uid, sessionID: claims.sessionID,
            authenticatedAt: claims.authenticatedAt, provider: claims.provider, providerUid: claims.providerUid)
        (principal.isBorrowed, principal.methods) = (claims.isBorrowed, claims.methods)
        principal.isOfClient = claims.isOfClient
        principal.expiresAt = claims.expiresAt
        guard try await revocations.isRevoked(claims, at: time.now(), application: application.id) else {
            return principal
        }
        guard admittingFormerGuests,
            let successor = try await store.successor(ofGuest: principal.sessionID, application: application.id)
        else { throw AccountsError.invalidToken }
        principal.successor = successor
        return principal
    }

    /// Looks up the session of a session bearer, at each call.
    private func principal(ofBearer text: String, in application: Application) async throws -> Principal {
        guard let bearer = SessionBearer.parse(text, by: opaque),
            let session = try await store.session(ofBearer: bearer.hash, application: application.id)
        else { throw AccountsError.invalidToken }
        return Principal(session, in: application)
    }

    /// Requires a recent authentication, except from guests, who cannot authenticate again.
    ///
    /// An account remains a guest's while all other identities are of providers that are `linkOnly`.
    /// A borrowed session never counts as recent, because its authentication was on another device.
    /// - Throws: `AccountsError.tokenTooOld`.
    package func requireRecent(_ principal: Principal, for call: SensitiveCall = .any) async throws {
        guard !principal.isBorrowed else { throw AccountsError.tokenTooOld }
        guard !principal.application.policy.isRecent(principal.authenticationTime, now: time.now(), for: call),
            principal.successor == nil
        else { return }
        let identities = try await store.identities(of: principal.uid, application: principal.application.id)
        let (guests, others) = (identities.filter(\.isGuest), identities.filter { !$0.isGuest })
        let providers = principal.application.providers
        guard !guests.isEmpty, others.allSatisfy({ providers.obstacle(to: $0) == .providerLinkOnly }) else {
            throw AccountsError.tokenTooOld
        }
    }
}
