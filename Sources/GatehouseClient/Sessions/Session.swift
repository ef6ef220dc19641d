internal import Foundation

extension GatehouseClient {
    /// A session: the account that is signed in, and the identity that opened the session.
    public struct Session: Sendable, Hashable, Codable {
        /// The account.
        public internal(set) var user: User
        /// The identity that opened the session.
        public internal(set) var auth: Auth

        /// The account's id, which identifies the person in the app.
        public var uid: String { user.id }
    }

    /// A change of the session.
    public enum Change: Sendable {
        /// A session began: by a sign-in, or because it was read from the storage.
        case signedIn(Session)
        /// The account or the identity of the session changed; the person is the same.
        case updated(Session)
        /// There is no session, or it ended.
        case signedOut(SignOutReason)
        /// The access token could not be renewed. The session is kept, and the next call tries again.
        case refreshFailed(GatehouseError)
        /// The session could not be stored or read. A session in memory is kept, and the library tries again; this is
        /// reported once until it succeeds.
        case storageFailed(GatehouseError)
        /// The session is stored again after a failure.
        case stored
    }

    /// Why there is no session.
    public enum SignOutReason: Sendable {
        /// No one was signed in.
        case notSignedIn
        /// The app signed the person out.
        case signedOut
        /// Another process, with which the app shares its storage, signed out or signed in another person.
        case elsewhere
        /// The server ended the session, for example from another device.
        case ended(GatehouseError.Refusal)
        /// The account was deleted.
        case accountDeleted
        /// The identity that opened the session was removed.
        case identityRemoved
    }
}

/// The stored form of a session.
struct StoredSession: Codable, Sendable {
    /// The version of this format.
    var version = 1
    let refreshToken: GatehouseClient.Secret
    let session: GatehouseClient.Session
    /// Apple's id of the person, if Sign in with Apple on this device opened the session.
    var appleUser: String?
}

extension StoredSession {
    init(_ held: HeldSession) {
        self.init(refreshToken: held.refreshToken, session: held.session, appleUser: held.appleUser)
    }

    init(_ data: Data) throws { self = try JSONDecoder().decode(Self.self, from: data) }

    func data() throws -> Data { try JSONEncoder().encode(self) }
}

/// The answer to a refresh.
struct TokenPair: Decodable, Sendable {
    let accessToken: GatehouseClient.Secret
    /// Seconds.
    let expiresIn: Double
    let refreshToken: GatehouseClient.Secret
}

/// An access token with its lifetime on the monotonic clock.
struct AccessToken: Sendable {
    let token: GatehouseClient.Secret
    /// The time from which it is renewed in advance; until `end` it is still used.
    let renewAt: ContinuousClock.Instant
    /// The time from which it is no longer used.
    let end: ContinuousClock.Instant

    /// Creates the token from a response.
    ///
    /// The lifetime counts from the request, so that it is never overestimated. It ends a little early, so that the
    /// token is still valid when a call arrives.
    init(_ pair: TokenPair, askedAt: ContinuousClock.Instant) {
        let life = min(max(pair.expiresIn, 0), 31_536_000)
        token = pair.accessToken
        renewAt = askedAt + .seconds(life * 0.8)
        end = askedAt + .seconds(life - min(10, life * 0.1))
    }
}
