internal import Postgres

/// The rows of OpenID clients.
extension ExpiredRows {
    /// Removes the instances that the next part selects, with what people have allowed them.
    private static let goneInstances: StaticString = """
        WITH gone AS (
            DELETE FROM clients WHERE application_id = $1 AND ctid = ANY (ARRAY(
        """

    private static let withConsents: StaticString = """
            ))
            RETURNING client_id
        ), withdrawn AS (
            DELETE FROM consents
             WHERE application_id = $1 AND client_id LIKE 'dyn~%'
               AND client_id = ANY (ARRAY(SELECT client_id FROM gone))
        )
        SELECT client_id FROM gone
        """

    static let ofOpenID: [Statement] = [
        // Redeemed codes are kept for a day, to detect their replay.
        .removing(
            "authorization_codes",
            where: "expires_at < now() AND (redeemed_at IS NULL OR expires_at < now() - interval '1 day')"),
        // Requests that a browser has are kept for an hour, so that their pages can say that they are over.
        .removing(
            "authorization_requests",
            where: "expires_at < now() AND (browser_hash IS NULL OR expires_at < now() - interval '1 hour')"),
        // Registered clients are removed after their sessions.
        SQLStore.endSessionsOfDeletedClients,
        Statement(
            .write,
            """
            DELETE FROM consents WHERE application_id = $1 AND ctid = ANY (ARRAY(
                SELECT g.ctid FROM clients c JOIN consents g ON g.application_id = $1 AND g.client_id = c.client_id
                 WHERE c.application_id = $1 AND c.software IS NULL AND c.session_id IS NULL AND c.expires_at < now()
                   AND g.client_id LIKE 'reg~%'
                 LIMIT $2))
            """),
        Statement(
            .write,
            """
            WITH gone AS (
                DELETE FROM clients WHERE application_id = $1 AND ctid = ANY (ARRAY(
                    SELECT c.ctid FROM clients c
                     WHERE c.application_id = $1 AND c.software IS NULL AND c.session_id IS NULL
                       AND c.expires_at < now() - interval '1 minute'
                       AND NOT EXISTS (SELECT 1 FROM sessions s
                                        WHERE s.application_id = $1 AND s.client_id = c.client_id
                                          AND s.client_id LIKE 'reg~%' AND s.ended_at IS NULL)
                     LIMIT $2 FOR UPDATE SKIP LOCKED))
                RETURNING client_id, deleted_at
            ), audited AS (
                INSERT INTO audit_events (application_id, event, details)
                SELECT $1, 'client.deleted', jsonb_build_object('client', client_id, 'by', 'idle')
                  FROM gone
                 WHERE deleted_at IS NULL
            )
            SELECT client_id FROM gone
            """),
        // An instance without a sign-in counts as a registration for an hour; others are removed once their sessions
        // have ended.
        Statement(
            .write, goneInstances,
            """
            SELECT c.ctid FROM clients c
             WHERE c.application_id = $1 AND c.software IS NOT NULL AND c.session_id IS NULL AND c.expires_at < now()
               AND (c.deleted_at IS NOT NULL OR c.created_at < now() - interval '1 hour')
             LIMIT $2 FOR UPDATE SKIP LOCKED
            """, withConsents),
        Statement(
            .write, goneInstances,
            """
            SELECT c.ctid FROM sessions s JOIN clients c ON c.application_id = $1 AND c.session_id = s.id
             WHERE s.application_id = $1 AND s.client_id LIKE 'dyn~%' AND s.expires_at < now()
             LIMIT $2
            """, withConsents),
        Statement(
            .write, goneInstances,
            """
            SELECT c.ctid FROM sessions s JOIN clients c ON c.application_id = $1 AND c.session_id = s.id
             WHERE s.application_id = $1 AND s.client_id LIKE 'dyn~%' AND s.ended_at IS NOT NULL
             LIMIT $2
            """, withConsents),
        // Sign-ins that another device answers are kept for an hour, so that both devices can say that they have
        // expired.
        .removing("handoffs", where: "expires_at < now() - interval '1 hour'"),
        .removing("console_sessions", where: "expires_at < now()"),
    ]
}
