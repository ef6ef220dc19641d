/// How long a session outlives its first access token, and by which secret of the client.
package enum Renewal: Sendable, Equatable {
    /// The client exchanges a refresh token for further access tokens; the sessions of version 1 of the API.
    case refresh
    /// The session ends with its access token.
    case none
    /// The client sends a session bearer instead of access tokens.
    case bearer(BearerLifetime)

    /// As stored in `sessions.renewal`.
    package var name: String {
        switch self {
        case .refresh: "refresh"
        case .none: "none"
        case .bearer: "bearer"
        }
    }

    package var bearerLifetime: BearerLifetime? {
        if case .bearer(let lifetime) = self { lifetime } else { nil }
    }
}

/// When a session bearer ends: if it stays unused, and in any case.
package struct BearerLifetime: Sendable, Equatable {
    /// How long the bearer may stay unused.
    package let idle: Duration
    /// How long the session lasts after the sign-in.
    package let lifetime: Duration

    package init(idle: Duration, lifetime: Duration) {
        (self.idle, self.lifetime) = (idle, lifetime)
    }
}

/// The secret with which a client keeps a session.
package enum SessionSecret: Sendable {
    /// A browser's cookie, which is not made here; such a session has no tokens.
    case cookie
    /// None: the session ends with its access token.
    case none
    case refreshToken(OpaqueToken)
    case bearer(OpaqueToken, BearerLifetime)

    package var refreshToken: OpaqueToken? {
        if case .refreshToken(let token) = self { token } else { nil }
    }

    package var bearer: OpaqueToken? {
        if case .bearer(let token, _) = self { token } else { nil }
    }

    package var bearerLifetime: BearerLifetime? {
        if case .bearer(_, let lifetime) = self { lifetime } else { nil }
    }

    /// As stored in `sessions.renewal`; a cookie's session has the default.
    package var renewal: Renewal {
        switch self {
        case .cookie, .refreshToken: .refresh
        case .none: .none
        case .bearer(_, let lifetime): .bearer(lifetime)
        }
    }
}
