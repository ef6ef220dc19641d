package import Accounts
package import Foundation
internal import Postgres
package import ProviderKit

extension SQLStore: DeletionStore {
    private static let requestDeletion = Statement(
        .write,
        """
        WITH account AS (
            UPDATE accounts SET deleted_at = now(), purge_after = now() + $4::interval, updated_at = now()
             WHERE application_id = $1 AND uid = $2 AND deleted_at IS NULL
            RETURNING uid, audit_key, purge_after
        ), scheduled AS (
            INSERT INTO erasures (application_id, receipt, uid, purge_after, session_id)
            SELECT $1, $3, uid, purge_after, $6 FROM account
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'account.deleted', sha256(audit_key || uuid_send(uid)),
                   $7::jsonb || jsonb_build_object('by', $5::text)
              FROM account
        )
        SELECT purge_after FROM account
        """)

    package func requestDeletion(
        of uid: UUID, by cause: DeletionCause, session: UUID?, receipt: UUID, gracePeriod: Duration,
        details: [String: JSONValue], application: Application.ID
    ) async throws -> Date {
        var row = try await one(
            Self.requestDeletion,
            [
                .application(application), .uuid(uid), .uuid(receipt), .interval(gracePeriod), .text(cause.rawValue),
                .uuid(session), .object(details),
            ])
        count(.deletions, in: application)
        return try row.next()
    }

    /// Restores the account unless its erasure has begun.
    ///
    /// By then, tokens may have been revoked and other services may have been requested to erase the account's data.
    /// The time is that of the statement, because the transaction may have waited for one that ended the grace period.
    private static let restore = Statement(
        .write,
        """
        WITH account AS (
            UPDATE accounts a SET deleted_at = NULL, purge_after = NULL, updated_at = now()
             WHERE application_id = $1 AND uid = $2 AND purge_after > statement_timestamp()
               AND NOT EXISTS (SELECT 1 FROM erasures e
                                WHERE e.application_id = $1 AND e.uid = a.uid AND e.began_at IS NOT NULL
                                  AND e.restored_at IS NULL AND e.erased_at IS NULL)
            RETURNING uid, audit_key
        ), cancelled AS (
            UPDATE erasures e SET restored_at = now()
              FROM account
             WHERE e.application_id = $1 AND e.uid = account.uid AND e.restored_at IS NULL AND e.erased_at IS NULL
            RETURNING e.session_id
        ), token AS MATERIALIZED (
            SELECT hash FROM proofs WHERE application_id = $1 AND uid = $2 AND kind = 'restore' FOR UPDATE NOWAIT
        ), dropped AS (
            DELETE FROM proofs p USING account
             WHERE p.application_id = $1 AND p.uid = account.uid AND p.kind = 'restore'
               AND (SELECT count(*) FROM token) > 0
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'account.restored', sha256(audit_key || uuid_send(uid)), $3::jsonb FROM account
        )
        SELECT (SELECT session_id FROM cancelled) FROM account
        """)

    /// Withdraws what webhooks have not acknowledged about the deletions of an account that was restored.
    ///
    /// A receiver that learned of the deletion after the restoration would remove the data of a live account.
    private static let withdrawDeletion = Statement(
        .write,
        """
        WITH delivery AS MATERIALIZED (
            SELECT event_id FROM webhook_deliveries
             WHERE application_id = $1 AND uid = $2 AND kind = 'account.deleted' AND acknowledged_at IS NULL
             ORDER BY event_id, webhook
               FOR UPDATE
        )
        UPDATE webhook_deliveries SET failed_at = now(), failure = 'restored'
         WHERE application_id = $1 AND uid = $2 AND kind = 'account.deleted' AND acknowledged_at IS NULL
           AND (SELECT count(*) FROM delivery) > 0
        """)

    package func restore(
        _ uid: UUID, details: [String: JSONValue], application: Application.ID
    ) async throws -> CancelledDeletion? {
        let binds: [Bind] = [.application(application), .uuid(uid), try .object(details)]
        guard var row = try await run(Self.restore, binds).first else { return nil }
        try await write(Self.withdrawDeletion, [.application(application), .uuid(uid)])
        return CancelledDeletion(session: try row.next())
    }
}
