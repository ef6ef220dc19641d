/// The session that a client holds.
struct HeldSession: Sendable {
    var session: GatehouseClient.Session
    var refreshToken: GatehouseClient.Secret
    /// `nil` after the session was read from the storage.
    var access: AccessToken?
    /// Whether the session is stored.
    var isRemembered: Bool
}

/// What a client knows about its session.
enum KeptState: Sendable {
    /// Not read from the storage yet.
    case unread
    case signedOut
    case signedIn(HeldSession)
}

extension SessionKeeper {
    /// Whether what continues the session is stored and long, too.
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
