internal import Foundation

extension GatehouseClient {
    /// Who is signed in.
    public struct Session: Sendable, Hashable, Codable {
        /// The account.
        public internal(set) var user: User
        /// The identity that signed in.
        public internal(set) var auth: Auth

        /// The account's id, which identifies the person in the app.
        public var uid: String { user.id }
    }

    /// What happened to the session.
    public enum Change: Sendable {
        /// Somebody is signed in: by a sign-in, or read from the storage.
        case signedIn(Session)
        /// The account or the identity of the same person changed.
        case updated(Session)
        /// Nobody is signed in any more.
        case signedOut(SignOutReason)
        /// The access token could not be renewed. The session is kept, and the next call tries again.
        case refreshFailed(GatehouseError)
        /// The session could not be stored. It is kept in memory, and storing is tried again.
        case storageFailed(GatehouseError)
        /// The session is stored again after a failure.
        case stored
    }

    /// Why nobody is signed in.
    public enum SignOutReason: Sendable {
        /// Nobody has been.
        case notSignedIn
        /// The app signed the person out.
        case signedOut
        /// The server ended the session, for example from another device.
        case ended(GatehouseError.Refusal)
        /// The account was deleted.
        case accountDeleted
        /// The identity that had signed in was removed.
        case identityRemoved
    }
}

/// What the storage holds.
struct StoredSession: Codable, Sendable {
    /// The version of this format.
    var version = 1
    let refreshToken: GatehouseClient.Secret
    let session: GatehouseClient.Session
    /// Apple's id of the person, if Sign in with Apple on this device has opened the session.
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

/// An access token with its life on the monotonic clock.
struct AccessToken: Sendable {
    let token: GatehouseClient.Secret
    /// From when on it is renewed while it is still used.
    let renewAt: ContinuousClock.Instant
    /// From when on it is not used any more.
    let end: ContinuousClock.Instant

    /// Creates the token of an answer.
    ///
    /// The life counts from the request, so that it is never overestimated, and ends a little early, so that the token
    /// is still good when a call arrives.
    init(_ pair: TokenPair, askedAt: ContinuousClock.Instant) {
        let life = min(max(pair.expiresIn, 0), 31_536_000)
        token = pair.accessToken
        renewAt = askedAt + .seconds(life * 0.8)
        end = askedAt + .seconds(life - min(10, life * 0.1))
    }
}
