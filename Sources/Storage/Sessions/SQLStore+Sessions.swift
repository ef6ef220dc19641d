package import Accounts
package import Foundation
package import Postgres
internal import OpenID
internal import ProviderKit

extension SQLStore: GuestSuccessorStore, RefreshStore, SessionStore {
    /// Rotates a refresh token by inserting its successor, and ends the session if the token is reused.
    ///
    /// A token's successor is derived from the token (`SessionRefresh`), so its row shows that the token was presented,
    /// and when; the row of the successor's own successor shows that the successor was presented. A repeated rotation
    /// changes nothing. If the session is renewed at the same time, the new token has the earlier generation and is
    /// therefore not accepted. A client's token that does not allow what the client asks for is not rotated, and one
    /// whose grant lacks the account's consent is refused.
    package static let rotate = Statement(
        .write,
        """
        WITH presented AS MATERIALIZED (
            SELECT t.session_id, s.uid, s.identity_id, s.methods, s.authenticated_at, s.expires_at, s.generation,
                   s.is_borrowed, t.scopes, t.resources, t.claims, t.token_claims, t.issuer, t.scopes IS NULL OR (
        """, suitsTarget,
        """
                   ) AS is_suitable
              FROM refresh_tokens t
              JOIN sessions s ON s.application_id = $1 AND s.id = t.session_id
             WHERE t.application_id = $1 AND t.hash = $2 AND t.expires_at > now()
               AND s.ended_at IS NULL AND s.expires_at > now() AND coalesce(t.generation, s.generation) = s.generation
               AND s.client_id IS NOT DISTINCT FROM $8 AND t.issuer IS NOT DISTINCT FROM $9
               AND (NOT $15 OR EXISTS (
                   SELECT 1 FROM consents c
                    WHERE c.application_id = $1 AND c.uid = s.uid AND c.client_id = $8 AND c.resources @> t.resources
                      AND c.scopes @> (
        """, consentScopes,
        """
                      )))
        ), successor AS MATERIALIZED (
            SELECT s.created_at < now() - $5::interval
                   AND (s.created_at < now() - $7::interval
                        OR EXISTS (SELECT 1 FROM refresh_tokens n WHERE n.application_id = $1 AND n.hash = $4)) AS is_reuse
              FROM refresh_tokens s
             WHERE s.application_id = $1 AND s.hash = $3
        ), rotated AS (
            INSERT INTO refresh_tokens
                   (application_id, hash, session_id, generation, expires_at, scopes, resources, claims, token_claims,
                    issuer)
            SELECT $1, $3, session_id, generation, least(now() + $6::interval, expires_at), scopes, resources, claims,
                   token_claims, issuer
              FROM presented
             WHERE is_suitable AND NOT EXISTS (SELECT 1 FROM successor)
            ON CONFLICT DO NOTHING
        ), ended AS (
            UPDATE sessions s SET ended_at = now(), end_reason = 'refreshReused'
              FROM presented p, successor
             WHERE is_reuse AND s.application_id = $1 AND s.id = p.session_id AND s.ended_at IS NULL
            RETURNING s.id, s.uid, s.kind, s.client_id, s.issuer
        ), told AS (
            INSERT INTO webhook_deliveries (application_id, event_id, webhook, name, kind, uid, details)
            SELECT $1, id, $10, client_id, 'backchannel-logout', uid, jsonb_build_object('client', client_id, 'issuer', issuer)
              FROM ended
             WHERE $10::text IS NOT NULL
            ON CONFLICT (application_id, event_id, webhook) DO UPDATE
               SET created_at = excluded.created_at, due_at = excluded.due_at, attempts = 0, leased_until = NULL,
                   acknowledged_at = NULL, failed_at = NULL, failure = NULL
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'session.refresh-reused', sha256(a.audit_key || uuid_send(a.uid)),
                   session_pseudonym(a.audit_key, e.id),
                   jsonb_strip_nulls(jsonb_build_object('kind', e.kind, 'client', e.client_id))
              FROM ended e JOIN accounts a ON a.application_id = $1 AND a.uid = e.uid
        )
        SELECT coalesce((SELECT is_reuse FROM successor), false),
               (SELECT count(pg_notify('gatehouse', 'ended:' || $1::text || ':' || e.id::text)) FROM ended e),
               p.session_id, p.uid, p.authenticated_at, p.expires_at, p.generation, p.methods, i.provider, i.provider_uid,
               (SELECT d.address FROM addresses d
                 WHERE d.application_id = $1 AND d.uid = p.uid AND d.kind = 'email'
                 ORDER BY d.verified_at, d.address LIMIT 1),
               (SELECT d.address FROM addresses d
                 WHERE d.application_id = $1 AND d.uid = p.uid AND d.kind = 'phone'
                 ORDER BY d.verified_at, d.address LIMIT 1),
               i.profile::text, a.roles, a.claims::text, p.scopes, p.resources, p.claims, i.is_guest, p.is_borrowed, p.token_claims,
               p.is_suitable,
        """, accountColumns,
        """
          FROM presented p
          JOIN identities i ON i.application_id = $1 AND i.id = p.identity_id
          JOIN accounts a ON a.application_id = $1 AND a.uid = p.uid
        """)

    package func rotate(_ rotation: Rotation, application: Application.ID) async throws -> RefreshOutcome {
        let rows = try await run(
            Self.rotate,
            [
                .application(application), .bytes(rotation.presented), .bytes(rotation.successor),
                .bytes(rotation.afterSuccessor), .interval(rotation.reuseInterval), .interval(rotation.lifetime),
                .interval(rotation.recovery), .text(rotation.client?.id), .text(rotation.client?.issuer),
                .text(rotation.logoutLane),
            ] + rotation.target.binds)
        guard var row = rows.first else { return .refused }
        let isReuse: Bool = try row.next()
        _ = try row.next(Int.self)
        var grant = try row.nextGrant()
        grant.clientScope = try row.nextClientScope()
        grant.isBorrowed = try row.next()
        let tokenClaims = try row.next([String]?.self) ?? []
        grant.clientScope?.tokenClaims = tokenClaims
        let isSuitable: Bool = try row.next()
        if !tokenClaims.isEmpty {
            let account = try row.nextAccountClaims(of: grant)
            grant.clientScope?.account = account
        }
        if isReuse {
            onChange(.revoked(SessionRevocation(of: grant.sessionID, application: application)))
            if rotation.logoutLane != nil { onChange(.queued) }
            let ended = EndedSession(id: grant.sessionID, uid: grant.uid, isParent: true)
            try await endThose(under: [ended], because: .refreshReused, application: application)
        }
        guard !isReuse else { return .reused }
        guard let scope = grant.clientScope, !isSuitable else {
            count(.refreshes, in: application)
            return .succeeded(grant)
        }
        return .unsuitable(scope, isBorrowed: grant.isBorrowed)
    }

    /// Whether a client's token with the columns `scopes` and `resources` allows what the client asks for
    /// (`TokenTarget`), in a session with the column `is_borrowed`.
    ///
    /// A borrowed session, which another device or app opened without a proof, gives no token that opens further ones
    /// (`StandardScope.lending`).
    static let suitsTarget: StaticString = """
        $11::text[] <@ scopes
        AND EXISTS (
            SELECT 1 FROM unnest($13::text[], $14::text[]) AS target (resource, scope)
             WHERE target.scope = ANY (scopes) AND ($11 = '{}' OR target.scope = ANY ($11))
               AND NOT (is_borrowed AND target.scope IN ('native', 'qr', 'blitz_qr_auth'))
               AND (target.resource = ANY (resources) OR target.resource = '' AND $12::text IS NULL)
               AND CASE WHEN $12::text IS NULL
                        THEN NOT EXISTS (SELECT 1 FROM unnest(resources) AS other
                                          WHERE other <> target.resource AND other = ANY ($13))
                        ELSE target.resource = $12 END)
        """

    /// The scopes for which a grant `t` of a client needs consent, also those of single claims.
    static let consentScopes: StaticString = """
        t.scopes || ARRAY(
            SELECT member.scope FROM unnest($16::text[], $17::text[]) AS member (claim, scope)
             WHERE member.claim = ANY (t.claims || t.token_claims))
        """

    private static let selectSessions = Statement(
        .read,
        """
        SELECT s.id, CASE WHEN c.device_type IS NULL THEN s.device ELSE c.device_name END, s.address, s.created_at,
               coalesce(greatest(t.last_seen_at, s.last_used_at, b.used_at), s.created_at),
               least(s.expires_at, s.last_used_at + s.idle, b.idle_until,
                     CASE WHEN s.kind = 'api' THEN t.refreshable_until END),
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
         WHERE s.application_id = $1 AND s.uid = $2 AND s.ended_at IS NULL AND s.expires_at > now()
           AND (s.kind <> 'api' OR s.renewal = 'none' OR t.refreshable_until > now() OR b.idle_until IS NOT NULL)
           AND (s.idle IS NULL OR s.last_used_at > now() - s.idle)
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
}

extension TokenTarget {
    /// The binds `$11` to `$17` of the statements with `suitsTarget` and `consentScopes`.
    var binds: [Bind] {
        let pairs = available.flatMap { resource, scopes in scopes.map { (resource, $0) } }
        return [
            .texts(scopes), .text(resource), .texts(pairs.map(\.0)), .texts(pairs.map(\.1)), .bool(needsConsent),
            .texts(RequestedClaims.scopeOfEach.map(\.claim)), .texts(RequestedClaims.scopeOfEach.map(\.scope.rawValue)),
        ]
    }
}
