package import Accounts
package import Foundation
internal import Postgres

/// Finds guests that have not been active for a long time.
extension SQLStore: IdleGuestStore {
    /// Selects the next guest identities whose recorded activity is older than the retention, and checks whether they
    /// are idle.
    ///
    /// Recent activity is the last use of the identity and, of the sessions that have not ended, the last token refresh,
    /// the last use of a session bearer, the last use by a browser or client, and the sign-in of an app that has only an
    /// access token; it is stored in `seen_at`. A guest identity counts as active
    /// if its account is deleted or merged into another, or also has an identity that is not a guest. The lookups are
    /// made row by row, because the planner doesn't know how few rows are selected.
    private static let lookAtGuests = Statement(
        .write,
        """
        WITH leader AS MATERIALIZED (
            SELECT pg_try_advisory_xact_lock(hashtextextended('gatehouse guests', 0)) AS is_free
        ), chosen AS MATERIALIZED (
            SELECT id, uid, coalesce(seen_at, created_at) AS since, last_used_at
              FROM identities
             WHERE (SELECT is_free FROM leader) AND application_id = $1 AND is_guest
               AND coalesce(seen_at, created_at) < now() - $2::interval
               AND (coalesce(seen_at, created_at), id)
                   > (coalesce($3::timestamptz, '-infinity'),
                      coalesce($4::uuid, '00000000-0000-0000-0000-000000000000'))
             ORDER BY coalesce(seen_at, created_at), id
             LIMIT $5
               FOR UPDATE SKIP LOCKED
        ), looked AS MATERIALIZED (
            SELECT c.id, c.uid, c.since,
                   CASE WHEN a.deleted_at IS NOT NULL OR a.absorbed_by IS NOT NULL
                          OR (SELECT true FROM identities o
                               WHERE o.application_id = $1 AND o.uid = c.uid AND NOT o.is_guest LIMIT 1)
                        THEN now()
                        ELSE greatest(c.last_used_at,
                                      (SELECT max(t.created_at) FROM sessions s
                                         JOIN refresh_tokens t ON t.application_id = $1 AND t.session_id = s.id
                                        WHERE s.application_id = $1 AND s.uid = c.uid AND s.ended_at IS NULL),
                                      (SELECT max(b.used_at) FROM sessions s
                                         JOIN session_bearers b ON b.application_id = $1 AND b.session_id = s.id
                                        WHERE s.application_id = $1 AND s.uid = c.uid AND s.ended_at IS NULL),
                                      (SELECT max(CASE WHEN s.renewal = 'none' THEN s.created_at
                                                       ELSE s.last_used_at END)
                                         FROM sessions s
                                        WHERE s.application_id = $1 AND s.uid = c.uid AND s.ended_at IS NULL))
                    END AS seen_at
              FROM chosen c
             CROSS JOIN LATERAL (
                   SELECT deleted_at, absorbed_by FROM accounts WHERE application_id = $1 AND uid = c.uid LIMIT 1) a
        ), noted AS (
            UPDATE identities i SET seen_at = l.seen_at
              FROM looked l
             WHERE i.application_id = $1 AND i.id = l.id AND l.seen_at >= now() - $2::interval
        )
        SELECT uid, id, since, coalesce(seen_at < now() - $2::interval, true) FROM looked ORDER BY since, id
        """)

    package func guests(
        idleFor retention: Duration, after last: IdleGuest?, atMost count: Int, application: Application.ID
    ) async throws -> [IdleGuest] {
        try await run(
            Self.lookAtGuests,
            [
                .application(application), .interval(retention), .timestamp(last?.seenAt), .uuid(last?.identity),
                .int(count),
            ]
        ).decoded { row in
            IdleGuest(uid: try row.next(), identity: try row.next(), seenAt: try row.next(), isIdle: try row.next())
        }
    }

    /// Keeps refresh tokens from being rotated until the transaction ends; session bearers can still be used.
    ///
    /// It must be `FOR UPDATE`, which is all that the rotation's lock conflicts with.
    private static let lockSessionsOfGuest = Statement(
        .write,
        """
        SELECT 1 FROM sessions WHERE application_id = $1 AND uid = $2 AND ended_at IS NULL ORDER BY id FOR UPDATE
        """)

    private static let selectIsIdleGuest = Statement(
        .read,
        """
        SELECT 1 FROM accounts a
         WHERE a.application_id = $1 AND a.uid = $3
           AND EXISTS (SELECT 1 FROM identities WHERE application_id = $1 AND uid = $3)
           AND NOT EXISTS (SELECT 1 FROM identities
                            WHERE application_id = $1 AND uid = $3
                              AND (NOT is_guest OR coalesce(last_used_at, created_at) > now() - $2::interval))
           AND NOT EXISTS (SELECT 1 FROM sessions s
                             JOIN refresh_tokens t ON t.application_id = $1 AND t.session_id = s.id
                            WHERE s.application_id = $1 AND s.uid = $3 AND s.ended_at IS NULL
                              AND t.created_at > now() - $2::interval)
           AND NOT EXISTS (SELECT 1 FROM sessions s
                             JOIN session_bearers b ON b.application_id = $1 AND b.session_id = s.id
                            WHERE s.application_id = $1 AND s.uid = $3 AND s.ended_at IS NULL
                              AND b.used_at > now() - $2::interval)
           AND NOT EXISTS (SELECT 1 FROM sessions
                            WHERE application_id = $1 AND uid = $3 AND ended_at IS NULL
                              AND CASE WHEN renewal = 'none' THEN created_at ELSE last_used_at END
                                  > now() - $2::interval)
        """)

    package func isIdleGuest(_ uid: UUID, for retention: Duration, application: Application.ID) async throws -> Bool {
        try await write(Self.lockSessionsOfGuest, [.application(application), .uuid(uid)])
        let idle = try await run(
            Self.selectIsIdleGuest, [.application(application), .interval(retention), .uuid(uid)])
        return !idle.isEmpty
    }
}
