package import Accounts
package import Foundation
package import Postgres
internal import ProviderKit

extension SQLStore: GuestSuccessorStore, RefreshStore, SessionEndStore, SessionStore {
    /// Rotates a refresh token by inserting its successor, and ends the session if the token is reused.
    ///
    /// The successor's row shows that the token was presented, and when; the row of the successor's own successor shows
    /// that the successor was presented. A repeated rotation changes nothing. If the session is renewed at the same
    /// time, the new token has the earlier generation and is therefore not accepted.
    package static let rotate = Statement(
        .write,
        """
        WITH presented AS MATERIALIZED (
            SELECT t.session_id, s.uid, s.identity_id, s.methods, s.authenticated_at, s.expires_at, s.generation,
                   t.scopes, t.resources, t.claims, t.issuer
              FROM refresh_tokens t
              JOIN sessions s ON s.application_id = $1 AND s.id = t.session_id
             WHERE t.application_id = $1 AND t.hash = $2 AND t.expires_at > now()
               AND s.ended_at IS NULL AND s.expires_at > now() AND coalesce(t.generation, s.generation) = s.generation
               AND s.client_id IS NOT DISTINCT FROM $8 AND t.issuer IS NOT DISTINCT FROM $9
        ), successor AS MATERIALIZED (
            SELECT s.created_at < now() - $5::interval
                   AND (s.created_at < now() - $7::interval
                        OR EXISTS (SELECT 1 FROM refresh_tokens n WHERE n.application_id = $1 AND n.hash = $4)) AS is_reuse
              FROM refresh_tokens s
             WHERE s.application_id = $1 AND s.hash = $3
        ), rotated AS (
            INSERT INTO refresh_tokens
                   (application_id, hash, session_id, generation, expires_at, scopes, resources, claims, issuer)
            SELECT $1, $3, session_id, generation, least(now() + $6::interval, expires_at), scopes, resources, claims,
                   issuer
              FROM presented
             WHERE NOT EXISTS (SELECT 1 FROM successor)
            ON CONFLICT DO NOTHING
        ), ended AS (
            UPDATE sessions s SET ended_at = now(), end_reason = 'refreshReused'
              FROM presented p, successor
             WHERE is_reuse AND s.application_id = $1 AND s.id = p.session_id AND s.ended_at IS NULL
            RETURNING s.id, s.uid
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id)
            SELECT $1, 'session.refresh-reused', sha256(a.audit_key || uuid_send(a.uid)),
                   session_pseudonym(a.audit_key, e.id)
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
               i.profile::text, p.scopes, p.resources, p.claims, i.is_guest
          FROM presented p
          JOIN identities i ON i.application_id = $1 AND i.id = p.identity_id
        """)

    package func rotate(_ rotation: Rotation, application: Application.ID) async throws -> RefreshOutcome {
        let rows = try await run(
            Self.rotate,
            [
                .application(application), .bytes(rotation.presented), .bytes(rotation.successor),
                .bytes(rotation.afterSuccessor), .interval(rotation.reuseInterval), .interval(rotation.lifetime),
                .interval(rotation.recovery), .text(rotation.client?.id), .text(rotation.client?.issuer),
            ])
        guard var row = rows.first else { return .refused }
        let isReuse: Bool = try row.next()
        _ = try row.next(Int.self)
        var grant = try row.nextGrant()
        grant.clientScope = try row.nextClientScope()
        if isReuse { onChange(.revoked(SessionRevocation(of: grant.sessionID, application: application))) }
        return isReuse ? .reused : .succeeded(grant)
    }

    private static let selectSessions = Statement(
        .read,
        """
        SELECT s.id, s.device, s.address, s.created_at, coalesce(greatest(t.last_seen_at, s.last_used_at), s.created_at),
               s.kind, s.client_id, s.parent_id
          FROM sessions s
          LEFT JOIN LATERAL (
               SELECT created_at AS last_seen_at, expires_at AS refreshable_until
                 FROM refresh_tokens
                WHERE application_id = $1 AND session_id = s.id
                ORDER BY created_at DESC
                LIMIT 1) t ON true
         WHERE s.application_id = $1 AND s.uid = $2 AND s.ended_at IS NULL
           AND s.expires_at > now() AND (s.kind <> 'api' OR t.refreshable_until > now())
           AND (s.idle IS NULL OR s.last_used_at > now() - s.idle)
         ORDER BY s.created_at DESC, s.id
        """)

    package func sessions(of uid: UUID, application: Application.ID) async throws -> [ListedSession] {
        try await run(Self.selectSessions, [.application(application), .uuid(uid)]).decoded { row in
            ListedSession(
                id: try row.next(), device: try row.next(), address: try row.next(), createdAt: try row.next(),
                lastSeenAt: try row.next(), kind: SessionKind(rawValue: try row.next()) ?? .api,
                client: try row.next(), browser: try row.next())
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

    /// Ends the sessions that match the conditions.
    ///
    /// With a browser session, the sessions of its clients end that do not outlive it; a session that is spared is so
    /// with its browser session and that one's clients.
    ///
    /// Unless only one session or the sessions of one identity end, this also deletes the tickets to merge or sign in
    /// to the account. If several sessions may end, it locks the account. No index serves `IS NOT DISTINCT FROM`: with
    /// `uid = $2` in the update, PostgreSQL would read all sessions of the account to end one, because its plan does
    /// not depend on the values.
    package static let endSessions = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid FROM accounts WHERE application_id = $1 AND uid = $2 AND $4::uuid IS NULL FOR NO KEY UPDATE
        ), spared AS MATERIALIZED (
            SELECT coalesce(parent_id, id) AS id FROM sessions WHERE application_id = $1 AND id = $5
        ), ended AS (
            UPDATE sessions
               SET ended_at = now(), end_reason = CASE WHEN parent_id = $4 THEN 'parentEnded' ELSE $3 END
             WHERE application_id = $1 AND uid IS NOT DISTINCT FROM $2 AND ended_at IS NULL
               AND id = ANY (CASE WHEN $4 IS NULL
                                  THEN ARRAY(SELECT id FROM sessions
                                              WHERE application_id = $1 AND uid = $2 AND ended_at IS NULL)
                                  ELSE ARRAY(SELECT $4 UNION ALL
                                             SELECT id FROM sessions
                                              WHERE application_id = $1 AND parent_id = $4 AND ended_at IS NULL
                                                AND NOT outlives_parent)
                             END)
               AND coalesce(parent_id, id) <> ALL (ARRAY(SELECT id FROM spared))
               AND ($6::uuid[] IS NULL OR identity_id = ANY ($6)) AND (SELECT count(*) FROM account) >= 0
            RETURNING id, end_reason, kind = 'browser' AS is_browser
        ), ticket AS MATERIALIZED (
            SELECT hash FROM proofs
             WHERE application_id = $1 AND uid = $2 AND kind IN ('merge', 'second-proof')
               AND $4::uuid IS NULL AND $6::uuid[] IS NULL
               FOR UPDATE NOWAIT
        ), dropped AS (
            DELETE FROM proofs
             WHERE application_id = $1 AND uid = $2 AND kind IN ('merge', 'second-proof')
               AND $4::uuid IS NULL AND $6::uuid[] IS NULL AND (SELECT count(*) FROM ticket) > 0
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'session.ended', sha256(a.audit_key || uuid_send(a.uid)), session_pseudonym(a.audit_key, e.id),
                   jsonb_build_object('reason', e.end_reason)
              FROM ended e JOIN accounts a ON a.application_id = $1 AND a.uid = $2
        )
        SELECT id, is_browser, pg_notify('gatehouse', 'ended:' || $1::text || ':' || id::text) FROM ended
        """)

    package func endSessions(
        _ selection: SessionSelection, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws {
        try await write(Self.endSessions, binds(selection, of: uid, because: reason, application: application)) {
            _ = try noteEnded($0, application: application)
        }
    }

    package func endSession(
        _ session: UUID, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws -> Bool {
        let binds = binds(.one(session), of: uid, because: reason, application: application)
        let ended = try await noteEnded(run(Self.endSessions, binds), application: application)
        // A client may have opened a session while its browser session ended; from now on, none can.
        if ended.hasBrowser { _ = try await noteEnded(run(Self.endSessions, binds), application: application) }
        return ended.count > 0
    }

    private func noteEnded(_ rows: Rows, application: Application.ID) throws -> (count: Int, hasBrowser: Bool) {
        var hasBrowser = false
        for var row in rows {
            onChange(.revoked(SessionRevocation(of: try row.next(), application: application)))
            let isBrowser: Bool = try row.next()
            hasBrowser = hasBrowser || isBrowser
        }
        return (rows.count, hasBrowser)
    }

    private func binds(
        _ selection: SessionSelection, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) -> [Bind] {
        let (only, spared, openers): (UUID?, UUID?, [UUID]?) =
            switch selection {
            case .one(let id): (id, nil, nil)
            case .allBut(let id): (nil, id, nil)
            case .openedBy(let identities): (nil, nil, identities)
            case .all: (nil, nil, nil)
            }
        return [
            .application(application), .uuid(uid), .text(reason.rawValue), .uuid(only), .uuid(spared), .uuids(openers),
        ]
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

    private static let selectSessionOfToken = Statement(
        .read, "SELECT session_id FROM refresh_tokens WHERE application_id = $1 AND hash = $2")

    package func endSession(
        ofRefreshToken hash: [UInt8], of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws {
        guard var row = try await run(Self.selectSessionOfToken, [.application(application), .bytes(hash)]).first else {
            return
        }
        try await endSessions(.one(row.next()), of: uid, because: reason, application: application)
    }
}

extension Row {
    /// The session's columns, starting with its id, in the order of `rotate`.
    mutating func nextGrant() throws -> SessionGrant {
        SessionGrant(
            sessionID: try next(), uid: try next(), authenticatedAt: try next(), expiresAt: try next(),
            generation: try next(), methods: try next(), provider: try next(), providerUid: try next(),
            email: try next(), phone: try next(),
            profile: try JSONValue(jsonText: next()).object ?? [:])
    }

    /// The next four columns, `scopes`, `resources`, `claims` and `is_guest`; `nil` for a session of the REST interface.
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
