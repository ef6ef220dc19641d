package import Accounts
package import Foundation
package import Postgres

extension SQLStore: SessionEndStore {
    /// Queues logout tokens for the clients of the sessions `concerned`, and records the sessions `ended` in the audit
    /// and at every replica.
    ///
    /// `$7` and `$8` are the ids of the configured clients with a back-channel logout URI, and their lanes in the queue.
    static let announceEnds: StaticString = """
        ), told AS (
            INSERT INTO webhook_deliveries (application_id, event_id, webhook, name, kind, uid, details)
            SELECT $1, c.id, receiver.webhook, c.client_id, 'backchannel-logout', c.uid,
                   jsonb_build_object('client', c.client_id, 'issuer', c.issuer)
              FROM concerned c
              JOIN (SELECT client_id, webhook FROM unnest($7::text[], $8::text[]) AS configured (client_id, webhook)
                    UNION ALL
                    SELECT client_id, logout_lane FROM clients
                     WHERE application_id = $1 AND client_id = ANY (ARRAY(SELECT client_id FROM concerned))
                       AND logout_lane IS NOT NULL AND deleted_at IS NULL) AS receiver
                ON receiver.client_id = c.client_id
             WHERE NOT c.is_late
                OR NOT EXISTS (SELECT 1 FROM webhook_deliveries d
                                WHERE d.application_id = $1 AND d.event_id = c.id AND d.webhook = receiver.webhook)
            ON CONFLICT (application_id, event_id, webhook) DO UPDATE
               SET created_at = excluded.created_at, due_at = excluded.due_at, attempts = 0, leased_until = NULL,
                   acknowledged_at = NULL, failed_at = NULL, failure = NULL
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, CASE e.end_reason WHEN 'refreshReused' THEN 'session.refresh-reused' ELSE 'session.ended' END,
                   sha256(a.audit_key || uuid_send(a.uid)), session_pseudonym(a.audit_key, e.id),
                   jsonb_strip_nulls(
                       jsonb_build_object(
                           'reason', nullif(e.end_reason, 'refreshReused'), 'kind', e.kind, 'client', e.client_id,
                           'dialect', e.dialect))
              FROM ended e JOIN accounts a ON a.application_id = $1 AND a.uid = e.uid
        )
        SELECT id, uid, kind = 'browser' OR has_lent,
               pg_notify('gatehouse', 'ended:' || $1::text || ':' || id::text)
          FROM ended
        """

    /// The sessions `chosen` and those that end with them, directly or indirectly, as the part `ending`.
    ///
    /// The client sessions of a browser session end with it, except those that outlive it. A browser session that an app
    /// has opened ends with the app's session.
    static let endingSessions: StaticString = """
        ), ending AS MATERIALIZED (
            WITH RECURSIVE tree AS (
                SELECT id FROM chosen
                UNION
                SELECT c.id
                  FROM tree CROSS JOIN LATERAL (
                       SELECT id FROM sessions
                        WHERE application_id = $1 AND parent_id = tree.id AND ended_at IS NULL AND NOT outlives_parent
                       OFFSET 0) c)
            SELECT id FROM tree
        """

    /// Ends the sessions that match the conditions, and those that end with them (`endingSessions`).
    ///
    /// If the session `$5` is spared, so are the sessions that it would end with. If it belongs to a browser session,
    /// the other clients of the browser session are spared, too, but not a session that an app has opened in another
    /// browser.
    ///
    /// A logout token is queued for each client session that ends, and for each that outlives the browser session that
    /// ends. With `$9`, the session `$4` ended in an earlier statement, and only the client sessions that outlive it and
    /// have no logout token yet get one.
    ///
    /// If all sessions of the account may end, the tickets to merge or sign in to the account are deleted, too. If
    /// several sessions may end, the account is locked; otherwise the session is locked before those that end with it, in
    /// the order in which a redemption of a code locks them. No index serves `IS NOT DISTINCT FROM`: with `uid = $2` in
    /// the update, PostgreSQL would read all sessions of the account to end one, because its plan does not depend on
    /// the values.
    package static let endSessions = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid FROM accounts WHERE application_id = $1 AND uid = $2 AND $4::uuid IS NULL FOR NO KEY UPDATE
        ), parent AS MATERIALIZED (
            SELECT id FROM sessions WHERE application_id = $1 AND id = $4 FOR NO KEY UPDATE
        ), above AS MATERIALIZED (
            WITH RECURSIVE line AS (
                SELECT id, parent_id, kind FROM sessions WHERE application_id = $1 AND id = $5
                UNION
                SELECT p.id, p.parent_id, p.kind
                  FROM line CROSS JOIN LATERAL (
                       SELECT id, parent_id, kind FROM sessions
                        WHERE application_id = $1 AND id = line.parent_id
                       OFFSET 0) p)
            SELECT id, kind FROM line
        ), spared AS MATERIALIZED (
            SELECT id FROM above
            UNION
            SELECT id FROM sessions
             WHERE application_id = $1 AND ended_at IS NULL AND kind = 'client'
               AND parent_id = ANY (ARRAY(SELECT id FROM above WHERE kind = 'browser'))
        ), chosen AS MATERIALIZED (
            SELECT $4::uuid AS id WHERE $4::uuid IS NOT NULL
            UNION
            SELECT id FROM sessions
             WHERE application_id = $1 AND uid = $2 AND ended_at IS NULL AND $4::uuid IS NULL
               AND ($6::uuid[] IS NULL OR identity_id = ANY ($6)) AND ($10::text IS NULL OR client_id = $10)
               AND ($11::timestamptz IS NULL OR created_at > $11)
        """, endingSessions,
        """
        ), ended AS (
            UPDATE sessions
               SET ended_at = now(),
                   end_reason = CASE WHEN id = ANY (ARRAY(SELECT id FROM chosen)) THEN $3 ELSE 'parentEnded' END
             WHERE application_id = $1 AND uid IS NOT DISTINCT FROM $2 AND ended_at IS NULL
               AND id = ANY (ARRAY(SELECT id FROM ending)) AND id <> ALL (ARRAY(SELECT id FROM spared))
               AND (SELECT count(*) FROM account) >= 0 AND (SELECT count(*) FROM parent) >= 0
            RETURNING id, uid, end_reason, kind, client_id, issuer, has_lent, dialect
        ), concerned AS MATERIALIZED (
            SELECT id, uid, client_id, issuer, false AS is_late FROM ended WHERE client_id IS NOT NULL
            UNION
            SELECT id, uid, client_id, issuer, $9 FROM sessions
             WHERE application_id = $1 AND ended_at IS NULL AND expires_at > now() AND outlives_parent
               AND parent_id = ANY (ARRAY(SELECT id FROM ended WHERE kind = 'browser' UNION ALL SELECT $4 WHERE $9))
        ), ticket AS MATERIALIZED (
            SELECT hash FROM proofs
             WHERE application_id = $1 AND uid = $2 AND kind IN ('merge', 'second-proof')
               AND $4::uuid IS NULL AND $6::uuid[] IS NULL AND $10::text IS NULL
               FOR UPDATE NOWAIT
        ), dropped AS (
            DELETE FROM proofs
             WHERE application_id = $1 AND uid = $2 AND kind IN ('merge', 'second-proof')
               AND $4::uuid IS NULL AND $6::uuid[] IS NULL AND $10::text IS NULL
               AND (SELECT count(*) FROM ticket) > 0
        """, announceEnds)

    package func endSessions(
        _ selection: SessionSelection, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws {
        guard isInTransaction else {
            _ = try await end(selection, of: uid, because: reason, application: application)
            return
        }
        let first = binds(selection, of: uid, because: reason, application: application)
        try await write(Self.endSessions, first) { rows in
            let ended = try noteEnded(rows, application: application)
            guard case .one = selection else { return }
            try await endThose(under: ended, because: reason, application: application)
        }
    }

    package func endSession(
        _ session: UUID, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws -> Bool {
        try await end(.one(session), of: uid, because: reason, application: application) > 0
    }

    /// Ends sessions, and returns how many.
    ///
    /// While the statement waits for a lock, another session may be opened by one of these. The statement does not see
    /// that session, so further ones look for it; by then, none can be opened any more. One statement is enough in a
    /// transaction that ends several sessions, because it has locked the account first.
    func end(
        _ selection: SessionSelection, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws -> Int {
        let first = binds(selection, of: uid, because: reason, application: application)
        let ended = try await noteEnded(run(Self.endSessions, first), application: application)
        guard case .one = selection else {
            let again = binds(selection, of: uid, because: reason, application: application, isEnded: true)
            try await noteEnded(run(Self.endSessions, again), application: application)
            return ended.count
        }
        try await endThose(under: ended, because: reason, application: application)
        return ended.count
    }

    /// Ends the sessions that end with those that have just ended, and that the statement did not see.
    func endThose(under ended: [EndedSession], because reason: SessionEnd, application: Application.ID) async throws {
        var parents = ended.filter(\.isParent)
        while let parent = parents.popLast() {
            let binds = binds(
                .one(parent.id), of: parent.uid, because: reason, application: application, isEnded: true)
            parents += try await noteEnded(run(Self.endSessions, binds), application: application)
                .filter(\.isParent)
        }
    }

    /// A session that a statement with `announceEnds` has ended.
    struct EndedSession {
        let id, uid: UUID
        /// Whether others may end with it: it is a browser's, or an app's that opens browser sessions.
        let isParent: Bool
    }

    @discardableResult
    func noteEnded(_ rows: Rows, application: Application.ID) throws -> [EndedSession] {
        let ended = try rows.decoded { row in
            EndedSession(id: try row.next(), uid: try row.next(), isParent: try row.next())
        }
        for session in ended { onChange(.revoked(SessionRevocation(of: session.id, application: application))) }
        if !ended.isEmpty, !subscriptions.logoutURIs(of: application).isEmpty { onChange(.queued) }
        return ended
    }

    private func binds(
        _ selection: SessionSelection, of uid: UUID, because reason: SessionEnd, application: Application.ID,
        isEnded: Bool = false
    ) -> [Bind] {
        var (only, spared, openers, since, client): (UUID?, UUID?, [UUID]?, Date?, String?)
        switch selection {
        case .one(let id): only = id
        case .allBut(let id): spared = id
        case .openedBy(let identities, let time): (openers, since) = (identities, time)
        case .ofClient(let id): client = id
        case .all: break
        }
        return [
            .application(application), .uuid(uid), .text(reason.rawValue), .uuid(only), .uuid(spared), .uuids(openers),
        ] + receivers(application) + [.bool(isEnded), .text(client), .timestamp(since)]
    }

    /// The binds `$7` and `$8` of `announceEnds`.
    func receivers(_ application: Application.ID) -> [Bind] {
        let receivers = Array(subscriptions.logoutURIs(of: application))
        return [.texts(receivers.map(\.key)), .texts(receivers.map { LogoutDelivery.lane(of: $0.value) })]
    }
}
