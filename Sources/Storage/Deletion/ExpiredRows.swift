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

    /// The statements in the order in which they run; each removes a batch of the rows of an application.
    package static let all = ofOpenID + others

    private static let others: [Statement] = [
        // Redeemed codes are kept for a day, to detect their replay.
        .removing(
            "redirect_flows",
            where: "expires_at < now() AND (redeemed_at IS NULL OR expires_at < now() - interval '1 day')"),
        // A server accepts a proof until its own clock has passed the expiry, and the clock may be behind that of the
        // database.
        .removing("used_proofs", where: "expires_at < now() - interval '10 minutes'"),
        .removing("proofs", where: "expires_at < now()"),
        .removing("provider_plans", where: "created_at < now() - interval '1 hour'"),
        .removing("code_aliases", where: "expires_at < now()"),
        .removing("registrations", where: "expires_at < now()"),
        .removing("outbox", where: "sent_at < now() - interval '7 days'"),
        .removing("outbox", where: "failed_at < now() - interval '30 days'"),
        .removing(
            "token_revocations",
            where: """
                (revoked_at IS NOT NULL OR failed_at IS NOT NULL) AND NOT is_of_erasure
                   AND created_at < now() - interval '30 days'
                   AND NOT EXISTS (SELECT 1 FROM erasures e
                                    WHERE e.application_id = $1 AND e.uid = token_revocations.uid
                                      AND e.restored_at IS NULL AND e.erased_at IS NULL)
                """),
        // The data to undo a merge is removed when the merge can no longer be undone.
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
        .removing("code_guesses", where: "since < now() - interval '24 hours'"),
        .removing(
            "webhook_deliveries",
            where: """
                (acknowledged_at IS NOT NULL OR failed_at IS NOT NULL)
                   AND kind NOT IN ('account.deleted', 'account.erased') AND created_at < now() - interval '30 days'
                """),
        .removing(
            "password_failures",
            where: "failed_at < now() - interval '24 hours' AND (locked_until IS NULL OR locked_until < now())"),
        // A browser's expired session is kept for a month, so that its pages can name the account. A client's session is
        // kept as long as its browser session is live, which can be longer than expected when the client got it: further
        // codes find it, and a sign-out is reported to the client.
        .removing(
            "sessions",
            where: """
                expires_at < now() - interval '1 day'
                   AND (browser_hash IS NULL OR expires_at < now() - interval '30 days')
                   AND (kind <> 'client' OR ended_at IS NOT NULL
                        OR now() >= coalesce(
                           (SELECT least(p.expires_at, p.last_used_at + p.idle) FROM sessions p
                             WHERE p.application_id = $1 AND p.id = sessions.parent_id AND p.ended_at IS NULL),
                           '-infinity'))
                """),
        // A session is kept for a month after its end, for investigations; the API does not distinguish it from an
        // unknown one.
        .removing("sessions", where: "ended_at < now() - interval '30 days'"),
        // A refresh token is kept while an older one of its session could still be presented, because reuse of the
        // older token is detected by the existence of its successor.
        .removing(
            "refresh_tokens",
            where: """
                expires_at < now()
                   AND NOT EXISTS (SELECT 1 FROM refresh_tokens o
                                    WHERE o.application_id = $1 AND o.session_id = refresh_tokens.session_id
                                      AND o.created_at <= refresh_tokens.created_at AND o.expires_at >= now())
                """),
        .removing("session_bearers", where: "idle_until < now()"),
        .removing("ended_sessions", where: "forget_after < now()"),
        .removing("rate_limits", where: "full_at < now()"),
        .removing("statistics", where: "step = 'minute' AND at < now() - interval '48 hours'"),
        .removing("statistics", where: "step = 'hour' AND at < now() - interval '400 days'"),
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
            for statement in Self.all {
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

extension Statement {
    /// Removes at most `$2` rows of the application `$1` that meet `condition`, and leaves out those that are locked.
    static func removing(_ table: StaticString, where condition: StaticString) -> Self {
        Self(
            .write, "DELETE FROM", table, "WHERE application_id = $1 AND ctid = ANY (ARRAY( SELECT ctid FROM", table,
            "WHERE application_id = $1 AND", condition, "LIMIT $2 FOR UPDATE SKIP LOCKED))")
    }
}
