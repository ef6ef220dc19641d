package import Accounts
package import Foundation
internal import Postgres

/// Queues the erasures that are due and records their outcome.
extension SQLStore: ErasureQueue, RevocationRetryStore {
    /// Only one replica takes erasures at a time; a replica that finds the lock taken tries again later.
    private static let takeErasures = Statement(
        .write,
        """
        WITH leader AS MATERIALIZED (
            SELECT pg_try_advisory_xact_lock(hashtextextended('gatehouse erasure', 0)) AS is_free
        ), due AS MATERIALIZED (
            SELECT receipt
              FROM erasures
             WHERE (SELECT is_free FROM leader) AND application_id = $1
               AND restored_at IS NULL AND erased_at IS NULL AND coalesce(look_again_at, purge_after) <= now()
             ORDER BY coalesce(look_again_at, purge_after)
             LIMIT $2
               FOR UPDATE SKIP LOCKED
        )
        UPDATE erasures e SET look_again_at = now() + $3::interval
          FROM due
         WHERE e.application_id = $1 AND e.receipt = due.receipt
        RETURNING e.application_id, e.receipt, e.uid, e.requested_at
        """)

    package func takeErasures(
        of applications: [Application.ID], atMost count: Int, lease: Duration
    ) async throws -> [DueErasure] {
        let due: [Application.ID] = try await run(.applicationsWithDueErasures, []).decoded { try $0.next() }
        var taken: [DueErasure] = []
        for application in Set(applications).intersection(due).shuffled() where taken.count < count {
            let binds: [Bind] = [.application(application), .int(count - taken.count), .interval(lease)]
            do {
                taken += try await run(Self.takeErasures, binds).map { try $0.dueErasure() }
            } catch {
                // Those that were taken before have a lease, so they must be returned.
                guard !taken.isEmpty else { throw error }
                break
            }
        }
        return taken
    }

    private static let selectScheduled = Statement(
        .read,
        """
        SELECT application_id, receipt, uid, requested_at
          FROM erasures
         WHERE application_id = $1 AND uid = $2 AND restored_at IS NULL AND erased_at IS NULL
        """)

    package func scheduledErasure(of uid: UUID, application: Application.ID) async throws -> DueErasure? {
        try await run(Self.selectScheduled, [.application(application), .uuid(uid)]).first?.dueErasure()
    }

    private static let selectWhetherErased = Statement(
        .read,
        "SELECT EXISTS (SELECT 1 FROM erasures WHERE application_id = $1 AND erased_at IS NOT NULL)")

    /// Whether an account of the application was ever erased.
    package func hasErased(in application: Application.ID) async throws -> Bool {
        var row = try await run(Self.selectWhetherErased, [.application(application)]).firstOrConflict()
        return try row.next()
    }

    private static let selectDue = Statement(
        .read,
        """
        SELECT e.application_id, e.receipt, e.uid, e.requested_at
          FROM erasures e
         WHERE application_id = $1 AND restored_at IS NULL AND erased_at IS NULL AND purge_after <= now()
         ORDER BY purge_after
        """)

    package func dueErasures(of application: Application.ID) async throws -> [DueErasure] {
        try await run(Self.selectDue, [.application(application)]).map { try $0.dueErasure() }
    }

    /// Begins a statement that ends a grace period: ends it for the account; the rest must end it for the erasure.
    ///
    /// `now()` would be the start of the transaction: one that has waited for another that ended the grace period would
    /// find the end to be in the future.
    static let endingGracePeriod: StaticString = """
        WITH account AS (
            UPDATE accounts a SET purge_after = statement_timestamp()
              FROM erasures e
             WHERE a.application_id = $1 AND a.uid = $3 AND a.purge_after > statement_timestamp()
               AND e.application_id = $1 AND e.receipt = $2 AND e.uid = a.uid
               AND e.restored_at IS NULL AND e.erased_at IS NULL
            RETURNING a.uid, a.audit_key
        """

    private static let skipGracePeriod = Statement(
        .write, endingGracePeriod,
        """
        )
        UPDATE erasures e SET purge_after = statement_timestamp()
          FROM account
         WHERE e.application_id = $1 AND e.receipt = $2 AND e.uid = account.uid
        """)

    package func skipGracePeriod(of erasure: DueErasure) async throws {
        try await write(Self.skipGracePeriod, erasure.key + [.uuid(erasure.uid)])
    }

    private static let beginErasure = Statement(
        .write,
        """
        WITH due AS MATERIALIZED (
            SELECT e.receipt, e.began_at
              FROM erasures e JOIN accounts a ON a.application_id = $1 AND a.uid = $3
             WHERE e.application_id = $1 AND e.receipt = $2 AND e.uid = $3
               AND e.restored_at IS NULL AND e.erased_at IS NULL AND a.purge_after <= now()
        ), begun AS (
            UPDATE erasures e SET began_at = now()
              FROM due
             WHERE e.application_id = $1 AND e.receipt = due.receipt AND due.began_at IS NULL
        ), dropped AS (
            DELETE FROM provider_tokens t USING identities i, due
             WHERE t.application_id = $1 AND i.application_id = $1 AND i.id = t.identity_id AND i.uid = ANY ($4)
            RETURNING i.id, i.provider, t.sealed
        ), handed AS (
            INSERT INTO token_revocations (application_id, identity_id, provider, uid, sealed)
            SELECT $1, id, provider, $3, sealed FROM dropped
            RETURNING id
        )
        SELECT EXISTS (SELECT 1 FROM handed) FROM due
        """)

    package func beginErasure(_ erasure: DueErasure, family: [UUID]) async throws -> Bool {
        let rows = try await run(Self.beginErasure, erasure.key + [.uuid(erasure.uid), .uuids(family)])
        guard var row = rows.first else { return false }
        if try row.next(Bool.self) { onChange(.queued) }
        return true
    }

    /// Postpones the erasure, unless an acknowledgement has made it due in the meantime.
    private static let postpone = Statement(
        .write,
        """
        UPDATE erasures SET look_again_at = now() + $3::interval
         WHERE application_id = $1 AND receipt = $2 AND erased_at IS NULL
           AND (look_again_at IS NULL OR look_again_at > now())
        """)

    package func postpone(_ erasure: DueErasure, by delay: Duration) async throws {
        try await write(Self.postpone, erasure.key + [.interval(delay)])
    }

    private static let retryRevocations = Statement(
        .write,
        """
        UPDATE token_revocations
           SET due_at = CASE WHEN leased_until > clock.now THEN due_at ELSE clock.now END
          FROM (SELECT now() AS now) AS clock
         WHERE application_id = $1 AND uid = $2 AND revoked_at IS NULL AND failed_at IS NULL
        """)

    package func retryRevocations(of uid: UUID, application: Application.ID) async throws {
        try await write(Self.retryRevocations, [.application(application), .uuid(uid)]) { retried in
            if retried.affected > 0 { onChange(.queued) }
        }
    }

    /// Marks the erasure as complete and truncates the times of the family's rows to whole days.
    ///
    /// A restored backup may contain no erasure of the account, or a different one: a missing erasure is inserted, and
    /// any other is completed too.
    ///
    /// What is still to be delivered or revoked keeps the ids and times that this needs: `markAcknowledged` recognises it
    /// by `created_at`, which is a whole day, and `markRevoked` by `is_of_erasure`. Settled events of other kinds are
    /// deleted, because their details contain ids that the audit has too; the others are deleted when they are settled. A
    /// settled revocation gets its own id in place of the identity's, which contains the time at which the identity was
    /// linked. The age of an event that waits is counted from the day after the erasure, because counted from the
    /// truncated time it would be given up too early.
    ///
    /// Locks deliveries and revocations first, in the same order as the workers, which mark one of them and then make
    /// its erasure due.
    ///
    /// Only the day of the deletion remains, because an exact time would link the erasure to the audit's event, which
    /// has the time in microseconds under the account's pseudonym. Two links can't be avoided: a version 7 `uid`
    /// contains its time of creation, which the `account.created` event has too, and for an account without a grace
    /// period the time of erasure is also the time of deletion.
    private static let conclude = Statement(
        .write,
        """
        WITH delivery AS MATERIALIZED (
            SELECT event_id FROM webhook_deliveries
             WHERE application_id = $1 AND uid = ANY ($7)
             ORDER BY event_id, webhook
               FOR UPDATE
        ), revocation AS MATERIALIZED (
            SELECT id FROM token_revocations
             WHERE application_id = $1 AND uid = ANY ($7) AND (SELECT count(*) FROM delivery) >= 0
             ORDER BY id
               FOR UPDATE
        ), others AS (
            UPDATE erasures
               SET erased_at = CASE WHEN restored_at IS NULL THEN coalesce(erased_at, $5) END,
                   requested_at = whole_day(requested_at), purge_after = whole_day(purge_after),
                   restored_at = whole_day(restored_at), began_at = whole_day(began_at), session_id = NULL
             WHERE application_id = $1 AND uid = ANY ($7) AND receipt <> $2
        ), told AS (
            UPDATE webhook_deliveries
               SET event_id = CASE WHEN acknowledged_at IS NULL AND failure IS DISTINCT FROM 'restored' THEN event_id
                                   ELSE whole_day(event_id) END,
                   created_at = whole_day(created_at), acknowledged_at = whole_day(acknowledged_at),
                   failed_at = whole_day(failed_at),
                   requeued_at = CASE WHEN acknowledged_at IS NULL AND failed_at IS NULL THEN clock.tomorrow
                                      ELSE whole_day(requeued_at) END,
                   due_at = CASE WHEN acknowledged_at IS NULL AND failed_at IS NULL THEN greatest(due_at, clock.now)
                                 ELSE whole_day(due_at) END
              FROM (SELECT now() AS now, whole_day(now() + interval '1 day') AS tomorrow) AS clock
             WHERE application_id = $1 AND uid = ANY ($7)
               AND (kind IN ('account.deleted', 'account.erased') OR acknowledged_at IS NULL AND failed_at IS NULL)
        ), dropped AS (
            DELETE FROM webhook_deliveries
             WHERE application_id = $1 AND uid = ANY ($7) AND kind NOT IN ('account.deleted', 'account.erased')
               AND (acknowledged_at IS NOT NULL OR failed_at IS NOT NULL)
        ), revoked AS (
            UPDATE token_revocations
               SET identity_id = CASE WHEN sealed IS NULL THEN id ELSE identity_id END,
                   created_at = CASE WHEN sealed IS NULL THEN whole_day(created_at) ELSE created_at END,
                   due_at = CASE WHEN sealed IS NULL THEN whole_day(due_at) ELSE due_at END,
                   revoked_at = whole_day(revoked_at), failed_at = whole_day(failed_at),
                   is_of_erasure = is_of_erasure OR sealed IS NOT NULL OR uid = $3 AND created_at >= exact.requested_at
              FROM (SELECT coalesce(min(requested_at), $4::timestamptz) AS requested_at
                      FROM erasures WHERE application_id = $1 AND receipt = $2) AS exact
             WHERE application_id = $1 AND uid = ANY ($7)
        )
        INSERT INTO erasures (application_id, receipt, uid, requested_at, purge_after, erased_at, certificate)
        SELECT $1, $2, $3, whole_day($4::timestamptz), $5, $5, $6 WHERE (SELECT count(*) FROM revocation) >= 0
        ON CONFLICT (application_id, receipt) DO UPDATE
           SET erased_at = excluded.erased_at, certificate = excluded.certificate, restored_at = NULL,
               requested_at = excluded.requested_at, purge_after = whole_day(erasures.purge_after),
               began_at = whole_day(erasures.began_at), look_again_at = NULL, session_id = NULL
        """)

    package func conclude(
        _ erasure: DueErasure, family: [UUID], erasedAt: Date, certificate: String
    ) async throws {
        try await write(
            Self.conclude,
            erasure.key + [
                .uuid(erasure.uid), .timestamp(erasure.requestedAt), .timestamp(erasedAt), .text(certificate),
                .uuids(family),
            ])
        count(.erasures, in: erasure.application)
    }
}

extension DueErasure {
    /// The binds `$1` and `$2` that identify the erasure.
    var key: [Bind] { [.application(application), .uuid(receipt)] }
}

extension Row {
    fileprivate func dueErasure() throws -> DueErasure {
        var row = self
        return DueErasure(
            application: try row.next(), receipt: try row.next(), uid: try row.next(), requestedAt: try row.next())
    }
}
