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

    private static let batchSize = 1000

    /// Restricts a statement to the rows that the next part selects, of which `batch` takes `$2` that are not locked.
    static let chosen: StaticString = """
        WHERE application_id = $1 AND ctid = ANY (ARRAY(
            SELECT ctid
        """

    static let batch: StaticString = """
        LIMIT $2 FOR UPDATE SKIP LOCKED))
        """

    // A session is kept for a month after its end, for investigations; the API does not distinguish it from an unknown
    // one. A refresh token is kept while an older one of its session could still be presented, because reuse of the
    // older token is detected by the existence of its successor.
    //
    // A browser's expired session is kept for a month, so that its pages can name the account.
    //
    // Redeemed codes are kept for a day, to detect their replay. Sent messages are kept for a week, failed ones for a
    // month. The data to undo a merge is removed when the merge can no longer be undone.
    private static let statements = [
        Statement(
            .write, "DELETE FROM redirect_flows", chosen,
            """
            FROM redirect_flows
             WHERE application_id = $1 AND expires_at < now()
               AND (redeemed_at IS NULL OR expires_at < now() - interval '1 day')
            """, batch),
        Statement(
            .write, "DELETE FROM used_proofs", chosen,
            "FROM used_proofs WHERE application_id = $1 AND expires_at < now()", batch),
        Statement(
            .write, "DELETE FROM proofs", chosen,
            "FROM proofs WHERE application_id = $1 AND expires_at < now()", batch),
        Statement(
            .write, "DELETE FROM provider_plans", chosen,
            "FROM provider_plans WHERE application_id = $1 AND created_at < now() - interval '1 hour'", batch),
        Statement(
            .write, "DELETE FROM code_aliases", chosen,
            "FROM code_aliases WHERE application_id = $1 AND expires_at < now()", batch),
        Statement(
            .write, "DELETE FROM registrations", chosen,
            "FROM registrations WHERE application_id = $1 AND expires_at < now()", batch),
        Statement(
            .write, "DELETE FROM outbox", chosen,
            "FROM outbox WHERE application_id = $1 AND sent_at < now() - interval '7 days'", batch),
        Statement(
            .write, "DELETE FROM outbox", chosen,
            "FROM outbox WHERE application_id = $1 AND failed_at < now() - interval '30 days'", batch),
        Statement(
            .write,
            """
            DELETE FROM token_revocations WHERE application_id = $1 AND ctid = ANY (ARRAY(
                SELECT r.ctid FROM token_revocations r
                 WHERE r.application_id = $1 AND (r.revoked_at IS NOT NULL OR r.failed_at IS NOT NULL)
                   AND NOT r.is_of_erasure
                   AND r.created_at < now() - interval '30 days'
                   AND NOT EXISTS (SELECT 1 FROM erasures e
                                    WHERE e.application_id = $1 AND e.uid = r.uid
                                      AND e.restored_at IS NULL AND e.erased_at IS NULL)
                 LIMIT $2 FOR UPDATE OF r SKIP LOCKED))
            """),
        Statement(
            .write,
            """
            UPDATE merges SET address_kinds = '{}', addresses = '{}', filled = '{}'
             WHERE application_id = $1 AND ctid = ANY (ARRAY(
                SELECT ctid FROM merges
                 WHERE application_id = $1 AND least(undo_until, undone_at) < now() - interval '1 hour'
                   AND (address_kinds <> '{}' OR filled <> '{}')
                 LIMIT $2 FOR UPDATE SKIP LOCKED))
            """),
        Statement(
            .write, "DELETE FROM code_guesses", chosen,
            "FROM code_guesses WHERE application_id = $1 AND since < now() - interval '24 hours'", batch),
        Statement(
            .write, "DELETE FROM webhook_deliveries", chosen,
            """
            FROM webhook_deliveries
             WHERE application_id = $1 AND (acknowledged_at IS NOT NULL OR failed_at IS NOT NULL)
               AND kind NOT IN ('account.deleted', 'account.erased') AND created_at < now() - interval '30 days'
            """, batch),
        Statement(
            .write, "DELETE FROM password_failures", chosen,
            """
            FROM password_failures
             WHERE application_id = $1 AND failed_at < now() - interval '24 hours'
               AND (locked_until IS NULL OR locked_until < now())
            """, batch),
        Statement(
            .write, "DELETE FROM sessions", chosen,
            """
            FROM sessions
             WHERE application_id = $1 AND expires_at < now() - interval '1 day'
               AND (browser_hash IS NULL OR expires_at < now() - interval '30 days')
            """, batch),
        Statement(
            .write, "DELETE FROM sessions", chosen,
            "FROM sessions WHERE application_id = $1 AND ended_at < now() - interval '30 days'", batch),
        Statement(
            .write,
            """
            DELETE FROM refresh_tokens WHERE application_id = $1 AND ctid = ANY (ARRAY(
                SELECT t.ctid FROM refresh_tokens t
                 WHERE t.application_id = $1 AND t.expires_at < now()
                   AND NOT EXISTS (SELECT 1 FROM refresh_tokens o
                                    WHERE o.application_id = $1 AND o.session_id = t.session_id
                                      AND o.created_at <= t.created_at AND o.expires_at >= now())
                 LIMIT $2 FOR UPDATE OF t SKIP LOCKED))
            """),
        Statement(
            .write, "DELETE FROM session_bearers", chosen,
            "FROM session_bearers WHERE application_id = $1 AND idle_until < now()", batch),
        Statement(
            .write, "DELETE FROM ended_sessions", chosen,
            "FROM ended_sessions WHERE application_id = $1 AND forget_after < now()", batch),
        Statement(
            .write, "DELETE FROM rate_limits", chosen,
            "FROM rate_limits WHERE application_id = $1 AND full_at < now()", batch),
        Statement(
            .write, "DELETE FROM statistics", chosen,
            "FROM statistics WHERE application_id = $1 AND step = 'minute' AND at < now() - interval '48 hours'",
            batch),
        Statement(
            .write, "DELETE FROM statistics", chosen,
            "FROM statistics WHERE application_id = $1 AND step = 'hour' AND at < now() - interval '400 days'", batch),
    ]

    /// Removes everything that has expired, even if one of the statements fails.
    ///
    /// Includes the rows of applications that are no longer configured. `duration` is how long the pauses between the
    /// applications take together, which keeps the load low when there are many. Their order is random, so that none is
    /// always last when servers restart often.
    ///
    /// - Returns: the number of removed rows.
    /// - Throws: the first error, once all statements have run.
    package func remove(over duration: Duration = .zero) async throws -> Int {
        var removed = 0
        var failure: (any Error)?
        let applications = try await ApplicationsTable(database: database).all().shuffled()
        for (index, application) in applications.enumerated() {
            if index > 0 { try await Task.sleep(for: duration / applications.count) }
            for statement in Self.ofOpenID + Self.statements {
                do {
                    removed += try await remove(statement, of: application.id)
                } catch {
                    failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
        return removed
    }

    private func remove(_ statement: Statement, of application: Application.ID) async throws -> Int {
        var removed = 0
        var count = Self.batchSize
        while count == Self.batchSize, !Task.isCancelled {
            // In a transaction, because sign-ins on a shared connection would wait behind it.
            count = try await database.transaction { transaction in
                try await transaction.execute(statement, .application(application), .int(Self.batchSize)).affected
            }
            removed += count
        }
        return removed
    }
}
