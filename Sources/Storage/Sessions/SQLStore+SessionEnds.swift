package import Accounts
package import Foundation
package import Postgres

extension SQLStore: SessionEndStore {
    /// Queues logout tokens for the clients of the sessions `concerned`, and records the sessions `ended` in the audit
    /// and at every replica.
    ///
    /// `$7` and `$8` are the ids of the clients with a back-channel logout URI, and their lanes in the queue.
    static let announceEnds: StaticString = """
        ), told AS (
            INSERT INTO webhook_deliveries (application_id, event_id, webhook, name, kind, uid, details)
            SELECT $1, c.id, receiver.webhook, c.client_id, 'backchannel-logout', c.uid,
                   jsonb_build_object('client', c.client_id, 'issuer', c.issuer)
              FROM concerned c JOIN unnest($7::text[], $8::text[]) AS receiver (client_id, webhook)
                ON receiver.client_id = c.client_id
             WHERE NOT c.is_late
                OR NOT EXISTS (SELECT 1 FROM webhook_deliveries d
                                WHERE d.application_id = $1 AND d.event_id = c.id AND d.webhook = receiver.webhook)
            ON CONFLICT (application_id, event_id, webhook) DO UPDATE
               SET created_at = excluded.created_at, due_at = excluded.due_at, attempts = 0, leased_until = NULL,
                   acknowledged_at = NULL, failed_at = NULL, failure = NULL
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'session.ended', sha256(a.audit_key || uuid_send(a.uid)), session_pseudonym(a.audit_key, e.id),
                   jsonb_strip_nulls(
                       jsonb_build_object('reason', e.end_reason, 'kind', e.kind, 'client', e.client_id))
              FROM ended e JOIN accounts a ON a.application_id = $1 AND a.uid = e.uid
        )
        SELECT id, kind = 'browser', pg_notify('gatehouse', 'ended:' || $1::text || ':' || id::text) FROM ended
        """

    /// Ends the sessions that match the conditions.
    ///
    /// With a browser session end its client sessions, except those that outlive it. If a client session is spared, so
    /// are its browser session and the other client sessions of that.
    ///
    /// A logout token is queued for each client session that ends, and for each that outlives the browser session that
    /// ends. With `$9`, the browser session ended in an earlier statement, and only the client sessions that outlive it
    /// and have no logout token yet get one.
    ///
    /// If all sessions of the account may end, the tickets to merge or sign in to the account are deleted, too. If
    /// several sessions may end, the account is locked; otherwise the session is locked before its client sessions, in
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
               AND ($4 IS NULL OR id = $4 OR NOT outlives_parent)
               AND ($6::uuid[] IS NULL OR identity_id = ANY ($6)
                    OR NOT outlives_parent AND parent_id = ANY (ARRAY(
                       SELECT id FROM sessions
                        WHERE application_id = $1 AND uid = $2 AND kind = 'browser' AND ended_at IS NULL
                          AND identity_id = ANY ($6))))
               AND ($10::text IS NULL OR client_id = $10)
               AND (SELECT count(*) FROM account) >= 0 AND (SELECT count(*) FROM parent) >= 0
            RETURNING id, uid, end_reason, kind, client_id, issuer
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
        try await write(Self.endSessions, binds(selection, of: uid, because: reason, application: application)) {
            _ = try noteEnded($0, application: application)
        }
    }

    package func endSession(
        _ session: UUID, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws -> Bool {
        try await end(.one(session), of: uid, because: reason, application: application) > 0
    }

    /// Ends sessions, and returns how many.
    ///
    /// If a browser session ends, a client may have opened a session while this waited for a lock. The statement does
    /// not see that session, so it runs again; by then, no further one can be opened. In a transaction that locks the
    /// account first, once is enough.
    private func end(
        _ selection: SessionSelection, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws -> Int {
        let first = binds(selection, of: uid, because: reason, application: application)
        let ended = try await noteEnded(run(Self.endSessions, first), application: application)
        if ended.hasBrowser {
            let again = binds(selection, of: uid, because: reason, application: application, isEnded: true)
            try await noteEnded(run(Self.endSessions, again), application: application)
        }
        return ended.count
    }

    @discardableResult
    func noteEnded(_ rows: Rows, application: Application.ID) throws -> (count: Int, hasBrowser: Bool) {
        var hasBrowser = false
        for var row in rows {
            onChange(.revoked(SessionRevocation(of: try row.next(), application: application)))
            let isBrowser: Bool = try row.next()
            hasBrowser = hasBrowser || isBrowser
        }
        if !rows.isEmpty, !subscriptions.logoutURIs(of: application).isEmpty { onChange(.queued) }
        return (rows.count, hasBrowser)
    }

    private func binds(
        _ selection: SessionSelection, of uid: UUID, because reason: SessionEnd, application: Application.ID,
        isEnded: Bool = false
    ) -> [Bind] {
        var (only, spared, openers, client): (UUID?, UUID?, [UUID]?, String?)
        switch selection {
        case .one(let id): only = id
        case .allBut(let id): spared = id
        case .openedBy(let identities): openers = identities
        case .ofClient(let id): client = id
        case .all: break
        }
        return [
            .application(application), .uuid(uid), .text(reason.rawValue), .uuid(only), .uuid(spared), .uuids(openers),
        ] + receivers(application) + [.bool(isEnded), .text(client)]
    }

    /// The binds `$7` and `$8` of `announceEnds`.
    func receivers(_ application: Application.ID) -> [Bind] {
        let receivers = Array(subscriptions.logoutURIs(of: application))
        return [.texts(receivers.map(\.key)), .texts(receivers.map { LogoutDelivery.lane(of: $0.value) })]
    }
}
