package import Accounts
package import Foundation
internal import Postgres
internal import OpenID
internal import ProviderKit

extension SQLStore: GuestSuccessorStore, SessionStore {
    /// Whether a client's token with the columns `scopes` and `resources` allows what the client asks for
    /// (`TokenTarget`), in a session with the column `is_borrowed`.
    ///
    /// A borrowed session, which another device or app opened without a proof, gives no token that opens further ones
    /// (`StandardScope.lending`).
    static let suitsTarget: StaticString = """
        $3::text[] <@ scopes
        AND EXISTS (
            SELECT 1 FROM unnest($5::text[], $6::text[]) AS target (resource, scope)
             WHERE target.scope = ANY (scopes) AND ($3 = '{}' OR target.scope = ANY ($3))
               AND NOT (is_borrowed AND target.scope IN ('native', 'qr', 'blitz_qr_auth'))
               AND (target.resource = ANY (resources) OR target.resource = '' AND $4::text IS NULL)
               AND CASE WHEN $4::text IS NULL
                        THEN NOT EXISTS (SELECT 1 FROM unnest(resources) AS other
                                          WHERE other <> target.resource AND other = ANY ($5))
                        ELSE target.resource = $4 END)
        """

    /// The scopes for which a grant `t` of a client needs consent, also those of single claims.
    static let consentScopes: StaticString = """
        t.scopes || ARRAY(
            SELECT member.scope FROM unnest($8::text[], $9::text[]) AS member (claim, scope)
             WHERE member.claim = ANY (t.claims || t.token_claims))
        """

    /// When the session `s` ends if nothing else ends it; null if it ends with a browser session that is over.
    ///
    /// A client session without offline access ends with its browser session, whose end moves with its use. The
    /// `expires_at` of the client session only limits the tokens that are issued in it.
    static let endOfSession: StaticString = """
        CASE WHEN s.kind = 'client' AND s.parent_id IS NOT NULL AND NOT s.outlives_parent
             THEN (SELECT least(p.expires_at, p.last_used_at + p.idle) FROM sessions p
                    WHERE p.application_id = $1 AND p.id = s.parent_id AND p.ended_at IS NULL)
             ELSE least(s.expires_at, s.last_used_at + s.idle) END
        """

    private static let selectSessions = Statement(
        .read,
        """
        SELECT s.id, CASE WHEN c.device_type IS NULL THEN s.device ELSE c.device_name END, s.address, s.created_at,
               coalesce(greatest(t.last_seen_at, s.last_used_at, b.used_at), s.created_at),
               least(
        """, endOfSession,
        """
                     , b.idle_until, CASE WHEN s.kind = 'api' THEN t.refreshable_until END),
               s.kind, s.client_id,
               CASE WHEN s.kind = 'client' THEN s.parent_id END, c.device_type,
               CASE WHEN c.software IS NULL THEN c.metadata::text END
          FROM sessions s
          LEFT JOIN clients c ON c.application_id = $1 AND c.client_id = s.client_id
          LEFT JOIN LATERAL (
               SELECT created_at AS last_seen_at, expires_at AS refreshable_until
                 FROM refresh_tokens
                WHERE application_id = $1 AND session_id = s.id
                ORDER BY created_at DESC
                LIMIT 1) t ON true
          LEFT JOIN session_bearers b ON b.application_id = $1 AND b.session_id = s.id AND b.idle_until > now()
         WHERE s.application_id = $1 AND s.uid = $2 AND s.ended_at IS NULL
           AND (s.kind <> 'api' OR s.renewal = 'none' OR t.refreshable_until > now() OR b.idle_until IS NOT NULL)
           AND now() <
        """, endOfSession,
        """
         ORDER BY s.created_at DESC, s.id
        """)

    package func sessions(of uid: UUID, application: Application.ID) async throws -> [ListedSession] {
        try await run(Self.selectSessions, [.application(application), .uuid(uid)]).decoded { row in
            var session = ListedSession(
                id: try row.next(), device: try row.next(), address: try row.next(), createdAt: try row.next(),
                lastSeenAt: try row.next(), expiresAt: try row.next(),
                kind: SessionKind(rawValue: try row.next()) ?? .api, client: try row.next(), browser: try row.next())
            session.deviceType = try row.next()
            if let metadata = try row.next(String?.self) {
                let client = try JSONDecoder().decode(ClientMetadata.self, from: Data(metadata.utf8))
                session.clientName = OAuthClient.shownName(client.name, redirectingTo: client.redirectURIs)
            }
            return session
        }
    }

    static let lockSession = Statement(
        .write,
        """
        SELECT identity_id FROM sessions
         WHERE application_id = $1 AND id = $2 AND uid = $3 AND ended_at IS NULL AND expires_at > now()
           FOR NO KEY UPDATE
        """)

    package func lockSession(_ session: UUID, of uid: UUID, application: Application.ID) async throws -> Bool {
        try await run(Self.lockSession, [.application(application), .uuid(session), .uuid(uid)]).first != nil
    }

    private static let selectSuccessor = Statement(
        .read,
        """
        SELECT coalesce(successor_uid, uid) FROM sessions
         WHERE application_id = $1 AND id = $2
           AND (successor_uid IS NOT NULL AND ended_at > now() - interval '60 seconds'
                OR ended_at IS NULL AND renewed_at > now() - interval '60 seconds')
        """)

    package func successor(ofGuest session: UUID, application: Application.ID) async throws -> UUID? {
        var row = try await run(Self.selectSuccessor, [.application(application), .uuid(session)]).first
        return try row?.next()
    }
}

extension Row {
    /// The session's columns and those of its account, from the session's id to `claims`, in the order of `rotate`.
    mutating func nextGrant() throws -> SessionGrant {
        var grant = SessionGrant(
            sessionID: try next(), uid: try next(), authenticatedAt: try next(), expiresAt: try next(),
            generation: try next(), methods: try next(), provider: try next(), providerUid: try next(),
            email: try next(), phone: try next(),
            profile: try JSONValue(jsonText: next()).object ?? [:])
        grant.access = try nextAccess()
        return grant
    }

    /// The next four columns: `scopes`, `resources`, `claims` and `is_guest`; `nil` for a session of the REST
    /// interface.
    mutating func nextClientScope() throws -> ClientScope? {
        let scopes: [String]? = try next()
        let resources: [String]? = try next()
        let claims: [String]? = try next()
        let isGuest: Bool = try next()
        return scopes.map {
            ClientScope(scopes: $0, resources: resources ?? [], claims: claims ?? [], isGuest: isGuest)
        }
    }

    /// The grant of a refresh token that was presented, with what it allows a client.
    mutating func nextRefreshed() throws -> SessionGrant {
        var grant = try nextGrant()
        grant.clientScope = try nextClientScope()
        grant.isBorrowed = try next()
        let tokenClaims = try next([String]?.self) ?? []
        grant.clientScope?.tokenClaims = tokenClaims
        if !tokenClaims.isEmpty {
            let account = try nextAccountClaims(of: grant)
            grant.clientScope?.account = account
        }
        return grant
    }
}

extension TokenTarget {
    /// The binds `$3` to `$9` of the statements with `suitsTarget` and `consentScopes`.
    var binds: [Bind] {
        let pairs = available.flatMap { resource, scopes in scopes.map { (resource, $0) } }
        return [
            .texts(scopes), .text(resource), .texts(pairs.map(\.0)), .texts(pairs.map(\.1)), .bool(needsConsent),
            .texts(RequestedClaims.scopeOfEach.map(\.claim)), .texts(RequestedClaims.scopeOfEach.map(\.scope.rawValue)),
        ]
    }
}
