internal import Accounts
internal import Postgres
internal import ProviderKit

extension NewSession {
    /// The binds of the statements that open a session.
    func binds(of identity: KnownIdentity, password: PasswordPermission?) throws -> [Bind] {
        [.application(application.id), .uuid(identity.uid), .uuid(identity.id)] + binds
            + [
                .text(password?.hash.phc), .bytes(password?.attempts.bytes), .text(evidence.displayName),
                try .object(evidence.profile), .text(client.languages), .uuid(resumes),
                .timestamp(authenticatedAt), .bool(provesIdentity),
                .texts(evidence.proven.compactMap(\.email?.value)), .uuid(continues), .bool(identity.isQuarantined),
            ] + clientBinds
    }

    /// The binds `$22` to `$26` of the statements that open a session of an app, or of a browser.
    var clientBinds: [Bind] {
        client.cookie.map { $0.binds + [.uuid($0.session), .bool(isBorrowed)] } ?? bearerBinds + [.bytes(deviceMark)]
    }

    /// The binds `$4` to `$10` of the statements that open a session.
    var binds: [Bind] {
        [
            .uuid(id), .texts(evidence.methods), .text(client.device), .text(client.address),
            .interval(lifetime), .bytes(secret.refreshToken?.hash),
            .interval(application.policy.tokens.refreshLifetime),
        ]
    }

    private var lifetime: Duration {
        switch secret {
        case .cookie: client.cookie?.lifetime ?? application.policy.tokens.sessionLifetime
        case .none: application.policy.tokens.accessLifetime + SessionTokens.roundingMargin
        case .refreshToken: shortLifetime ?? application.policy.tokens.sessionLifetime
        case .bearer(_, let bearer): bearer.lifetime
        }
    }

    /// The lifetime of a session that its client asked to be short; `nil` for others.
    var shortLifetime: Duration? {
        guard case .refreshToken = secret, client.opensShortSession else { return nil }
        return min(application.policy.tokens.shortSessions, application.policy.tokens.sessionLifetime)
    }

    /// The binds of `renewal`, `dialect` and the session bearer, if any.
    var bearerBinds: [Bind] {
        [
            .text(secret.renewal.name), .text(client.dialect), .bytes(secret.bearer?.hash),
            .interval(secret.bearerLifetime?.idle),
        ]
    }
}

extension BrowserCookie {
    /// The binds that the statements that open a browser's session have in common.
    var binds: [Bind] { [.bytes(hash), .bytes(replaced), .interval(idle)] }
}
