/// The session that a client holds.
struct HeldSession: Sendable {
    var session: GatehouseClient.Session
    var refreshToken: GatehouseClient.Secret
    /// `nil` after the session was read from the storage.
    var access: AccessToken?
    /// Whether the session is written to the storage.
    var isRemembered: Bool
    /// Apple's id of the person, if Sign in with Apple on this device opened the session.
    var appleUser: String?
}

extension HeldSession {
    init(_ stored: StoredSession) {
        self.init(
            session: stored.session, refreshToken: stored.refreshToken, isRemembered: true,
            appleUser: stored.appleUser)
    }

    /// Apple's id of the person, if the same identity opened `session`, which continues this one.
    func appleUser(of session: GatehouseClient.Session) -> String? {
        session.auth.providerUid == self.session.auth.providerUid
            && session.auth.provider == self.session.auth.provider ? appleUser : nil
    }
}

/// The state of a client's session.
enum KeptState: Sendable {
    /// Not read from the storage yet.
    case unread
    case signedOut
    case signedIn(HeldSession)
}

extension SessionKeeper {
    /// Whether a session that continues the present one is stored and long; `true` without a session.
    var isRemembered: Bool {
        if case .signedIn(let held) = state { return held.isRemembered }
        return true
    }

    /// An access token, and the sign-in that it belongs to.
    struct Grant: Sendable {
        let token: GatehouseClient.Secret
        let signIn: Int
    }

    /// A refresh that is under way.
    struct Refresh {
        let number: Int
        let task: Task<Result<Grant, GatehouseError>, Never>
    }
}
