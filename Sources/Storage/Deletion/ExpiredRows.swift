internal import Accounts
package import Postgres

/// Removes expired rows in small batches.
///
/// Any replica may do so at any time: it skips rows that another one is removing.
package struct ExpiredRows: Sendable {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    private static let batch = 1000

    // A session is kept for a month after its end, for investigations; the API does not distinguish it from an unknown
    // one. A refresh token is kept while an older one of its session could still be presented, because reuse of the
    // older token is detected by the existence of its successor.
    //
    // Redeemed codes are kept for a day, to detect their replay. Sent messages are kept for a week, failed ones for a
    // month. The data to undo a merge is removed when the merge can no longer be undone.
    private static let statements = [
        Statement(
            .write,
            """
            DELETE FROM redirect_flows WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM redirect_flows
                 WHERE expires_at < now() AND (redeemed_at IS NULL OR expires_at < now() - interval '1 day')
                 LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM used_proofs WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM used_proofs WHERE expires_at < now() LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM proofs WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM proofs WHERE expires_at < now() LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM code_aliases WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM code_aliases WHERE expires_at < now() LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM registrations WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM registrations WHERE expires_at < now() LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM outbox WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM outbox WHERE sent_at < now() - interval '7 days' LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM outbox WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM outbox WHERE failed_at < now() - interval '30 days' LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM token_revocations WHERE ctid = ANY (ARRAY(
                SELECT r.ctid FROM token_revocations r
                 WHERE (r.revoked_at IS NOT NULL OR r.failed_at IS NOT NULL) AND NOT r.is_of_erasure
                   AND r.created_at < now() - interval '30 days'
                   AND NOT EXISTS (SELECT FROM erasures e
                                    WHERE e.application_id = r.application_id AND e.uid = r.uid
                                      AND e.restored_at IS NULL AND e.erased_at IS NULL)
                 LIMIT $1 FOR UPDATE OF r SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            UPDATE merges SET address_kinds = '{}', addresses = '{}', filled = '{}' WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM merges
                 WHERE least(undo_until, undone_at) < now() - interval '1 hour'
                   AND (address_kinds <> '{}' OR filled <> '{}')
                 LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM code_guesses WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM code_guesses WHERE since < now() - interval '24 hours'
                 LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM webhook_deliveries WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM webhook_deliveries
                 WHERE (acknowledged_at IS NOT NULL OR failed_at IS NOT NULL)
                   AND kind NOT IN ('account.deleted', 'account.erased') AND created_at < now() - interval '30 days'
                 LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM password_failures WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM password_failures
                 WHERE failed_at < now() - interval '24 hours' AND (locked_until IS NULL OR locked_until < now())
                 LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM sessions WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM sessions WHERE expires_at < now() - interval '1 day'
                 LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM sessions WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM sessions WHERE ended_at < now() - interval '30 days'
                 LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM refresh_tokens WHERE ctid = ANY (ARRAY(
                SELECT t.ctid FROM refresh_tokens t
                 WHERE t.expires_at < now()
                   AND NOT EXISTS (SELECT FROM refresh_tokens o
                                    WHERE o.application_id = t.application_id AND o.session_id = t.session_id
                                      AND o.created_at <= t.created_at AND o.expires_at >= now())
                 LIMIT $1 FOR UPDATE OF t SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM ended_sessions WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM ended_sessions WHERE forget_after < now() LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            DELETE FROM rate_limits WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM rate_limits WHERE full_at < now() LIMIT $1 FOR UPDATE SKIP LOCKED))
            """),
    ]

    /// Removes everything that has expired, even if one of the statements fails.
    ///
    /// - Returns: the number of removed rows.
    /// - Throws: the first error, once all statements have run.
    package func remove() async throws -> Int {
        var removed = 0
        var failure: (any Error)?
        for statement in Self.statements {
            do {
                var count = Self.batch
                while count == Self.batch, !Task.isCancelled {
                    // In a transaction, because sign-ins on a shared connection would wait behind it.
                    count = try await database.transaction { transaction in
                        try await transaction.execute(statement, .int(Self.batch)).affected
                    }
                    removed += count
                }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return removed
    }
}
