internal import Accounts
internal import Postgres

/// Ends the disablings that have a date.
extension SQLStore {
    private static let enableDue = Statement(
        .write,
        """
        WITH due AS MATERIALIZED (
            SELECT uid
              FROM accounts
             WHERE application_id = $1 AND disabled_until <= now()
             ORDER BY disabled_until
             LIMIT $2
               FOR NO KEY UPDATE SKIP LOCKED
        ), enabled AS (
            UPDATE accounts a SET disabled_at = NULL, disabled_until = NULL, updated_at = now()
              FROM due
             WHERE a.application_id = $1 AND a.uid = due.uid
            RETURNING a.uid, a.audit_key
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'account.enabled', sha256(audit_key || uuid_send(uid)), jsonb_build_object('by', 'until')
              FROM enabled
        )
        SELECT uid FROM enabled
        """)

    private static let batch = 200

    /// Enables the accounts of all applications that were disabled until a time that has come.
    ///
    /// Any replica may do so at any time: it skips accounts that another one is changing.
    /// - Returns: how many accounts were enabled.
    package func enableDueAccounts() async throws -> Int {
        let due: [Application.ID] = try await run(.applicationsWithDisablingsThatEnd, []).decoded { try $0.next() }
        var enabled = 0
        for application in due.shuffled() {
            var count = Self.batch
            while count == Self.batch, !Task.isCancelled {
                count = try await transaction { store in
                    try await store.run(Self.enableDue, [.application(application), .int(Self.batch)]).count
                }
                enabled += count
            }
        }
        return enabled
    }
}
