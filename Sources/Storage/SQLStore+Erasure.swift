package import Accounts
package import Foundation
internal import Postgres

/// Erasures on their way: which are due, who has been told, and what came of it.
extension SQLStore {
    /// Not even two replicas at once take some: who finds the lock taken comes back later.
    private static let takeErasures = Statement(
        .write,
        """
        WITH leader AS MATERIALIZED (
            SELECT pg_try_advisory_xact_lock(hashtextextended('gatehouse erasure', 0)) AS is_free
        ), due AS MATERIALIZED (
            SELECT e.application_id, e.receipt
              FROM accounts a
              JOIN erasures e ON e.application_id = a.application_id AND e.uid = a.uid
                             AND e.restored_at IS NULL AND e.erased_at IS NULL
             WHERE (SELECT is_free FROM leader) AND a.purge_after <= now() AND a.application_id = ANY ($1)
               AND (e.look_again_at IS NULL OR e.look_again_at <= now())
             ORDER BY a.purge_after
             LIMIT $2
               FOR UPDATE OF e SKIP LOCKED
        )
        UPDATE erasures e SET look_again_at = now() + $3::interval
          FROM due
         WHERE e.application_id = due.application_id AND e.receipt = due.receipt
        RETURNING e.application_id, e.receipt, e.uid, e.requested_at
        """)

    package func takeErasures(
        of applications: [Int32], atMost count: Int, lease: Duration
    ) async throws -> [DueErasure] {
        try await run(Self.takeErasures, [.ints(applications.map(Int.init)), .int(count), .interval(lease)])
            .map { try $0.dueErasure() }
    }

    private static let selectScheduled = Statement(
        .read,
        """
        SELECT application_id, receipt, uid, requested_at
          FROM erasures
         WHERE application_id = $1 AND uid = $2 AND restored_at IS NULL AND erased_at IS NULL
        """)

    package func scheduledErasure(of uid: UUID, application: Int32) async throws -> DueErasure? {
        try await run(Self.selectScheduled, [.int4(application), .uuid(uid)]).first?.dueErasure()
    }

    private static let selectDue = Statement(
        .read,
        """
        SELECT e.application_id, e.receipt, e.uid, e.requested_at
          FROM accounts a
          JOIN erasures e ON e.application_id = a.application_id AND e.uid = a.uid
                         AND e.restored_at IS NULL AND e.erased_at IS NULL
         WHERE a.purge_after <= now() AND a.application_id = $1
         ORDER BY a.purge_after
        """)

    package func dueErasures(of application: Int32) async throws -> [DueErasure] {
        try await run(Self.selectDue, [.int4(application)]).map { try $0.dueErasure() }
    }

    private static let skipGracePeriod = Statement(
        .write,
        """
        WITH account AS (
            UPDATE accounts SET purge_after = now()
             WHERE application_id = $1 AND uid = $2 AND purge_after > now()
            RETURNING uid
        )
        UPDATE erasures e SET purge_after = now()
          FROM account
         WHERE e.application_id = $1 AND e.uid = account.uid AND e.restored_at IS NULL AND e.erased_at IS NULL
        """)

    package func skipGracePeriod(of uid: UUID, application: Int32) async throws {
        _ = try await run(Self.skipGracePeriod, [.int4(application), .uuid(uid)])
    }

    private static let beginErasure = Statement(
        .write,
        """
        WITH begun AS (
            UPDATE erasures e SET began_at = coalesce(e.began_at, now())
              FROM accounts a
             WHERE e.application_id = $1 AND e.receipt = $2 AND e.uid = $3
               AND e.restored_at IS NULL AND e.erased_at IS NULL
               AND a.application_id = $1 AND a.uid = $3 AND a.purge_after <= now()
            RETURNING e.uid
        ), dropped AS (
            DELETE FROM provider_tokens t USING identities i, begun
             WHERE t.application_id = $1 AND i.application_id = $1 AND i.id = t.identity_id AND i.uid = ANY ($4)
            RETURNING i.id, i.provider, t.sealed
        ), handed AS (
            INSERT INTO token_revocations (application_id, identity_id, provider, uid, sealed)
            SELECT $1, id, provider, $3, sealed FROM dropped
            RETURNING id
        )
        SELECT (SELECT count(pg_notify('gatehouse', 'outbox')) FROM (SELECT FROM handed LIMIT 1) AS any_handed)
          FROM begun
        """)

    package func beginErasure(_ erasure: DueErasure, family: [UUID]) async throws -> Bool {
        try await run(Self.beginErasure, erasure.key + [.uuid(erasure.uid), .uuids(family)]).first != nil
    }

    /// A provider whose tokens are still where they were is told once the erasure has begun.
    private static let selectProcessors = Statement(
        .read,
        """
        WITH erasure AS (
            SELECT uid, requested_at, restored_at, erased_at
              FROM erasures WHERE application_id = $1 AND receipt = $2
        ), revoked AS (
            SELECT r.provider, max(r.revoked_at) AS revoked_at, bool_or(r.failed_at IS NOT NULL) AS is_given_up,
                   bool_and(r.revoked_at IS NOT NULL OR r.failed_at IS NOT NULL) AS is_settled,
                   max(r.attempts) AS attempts, bool_or(r.leased_until > now()) AS is_under_way
              FROM erasure e JOIN token_revocations r
                ON r.application_id = $1 AND r.uid = e.uid AND r.created_at >= e.requested_at
             GROUP BY r.provider
        ), held AS (
            SELECT DISTINCT i.provider
              FROM erasure e
              JOIN identities i ON i.application_id = $1 AND i.uid = e.uid
              JOIN provider_tokens t ON t.application_id = $1 AND t.identity_id = i.id
             WHERE e.restored_at IS NULL AND i.provider NOT IN (SELECT provider FROM revoked)
        )
        SELECT w.name, w.acknowledged_at,
               w.acknowledged_at IS NULL AND (w.failed_at IS NOT NULL OR e.erased_at IS NOT NULL),
               w.acknowledged_at IS NOT NULL, w.attempts, coalesce(w.leased_until > now(), false)
          FROM erasure e JOIN webhook_deliveries w
            ON w.application_id = $1 AND w.uid = e.uid AND w.kind = 'account.deleted'
           AND w.details->>'receipt' = $2::text
        UNION ALL
        SELECT r.provider, CASE WHEN r.is_settled AND NOT r.is_given_up THEN r.revoked_at END,
               r.is_given_up OR NOT r.is_settled AND e.erased_at IS NOT NULL, r.is_settled, r.attempts,
               coalesce(r.is_under_way, false)
          FROM erasure e, revoked r
        UNION ALL
        SELECT provider, NULL, false, false, 0, false FROM held
         ORDER BY 1
        """)

    private func processors(_ receipt: UUID, application: Int32) async throws -> [Processor] {
        try await run(Self.selectProcessors, [.int4(application), .uuid(receipt)]).map { row in
            var row = row
            let name: String = try row.next()
            let acknowledgedAt: Date? = try row.next()
            let isUnreachable: Bool = try row.next()
            return Processor(
                name: name,
                status: acknowledgedAt.map { .acknowledged(at: $0) } ?? (isUnreachable ? .unreachable : .pending),
                isSettled: try row.next(), attempts: try row.next(), isUnderWay: try row.next())
        }
    }

    private static let selectWaited = Statement(
        .read,
        """
        SELECT extract(epoch FROM now() - coalesce(began_at, now()))::float8
          FROM erasures
         WHERE application_id = $1 AND receipt = $2 AND restored_at IS NULL AND erased_at IS NULL
        """)

    package func standing(of erasure: DueErasure) async throws -> ErasureStanding? {
        guard var row = try await run(Self.selectWaited, erasure.key).first else { return nil }
        return ErasureStanding(
            waited: .seconds(try row.next(Double.self)),
            processors: try await processors(erasure.receipt, application: erasure.application))
    }

    private static let postpone = Statement(
        .write,
        """
        UPDATE erasures SET look_again_at = now() + $3::interval
         WHERE application_id = $1 AND receipt = $2 AND erased_at IS NULL
        """)

    package func postpone(_ erasure: DueErasure, by delay: Duration) async throws {
        _ = try await run(Self.postpone, erasure.key + [.interval(delay)])
    }

    private static let retryRevocations = Statement(
        .write,
        """
        WITH due AS (
            UPDATE token_revocations
               SET due_at = CASE WHEN leased_until > now() THEN due_at ELSE now() END
             WHERE application_id = $1 AND uid = $2 AND revoked_at IS NULL AND failed_at IS NULL
            RETURNING 1
        )
        SELECT count(pg_notify('gatehouse', 'outbox')) FROM (SELECT FROM due LIMIT 1) AS any_due
        """)

    package func retryRevocations(of uid: UUID, application: Int32) async throws {
        _ = try await run(Self.retryRevocations, [.int4(application), .uuid(uid)])
    }

    /// A restored backup may know of another erasure of the account, or of none.
    private static let conclude = Statement(
        .write,
        """
        WITH others AS (
            UPDATE erasures SET erased_at = $5
             WHERE application_id = $1 AND uid = $3 AND receipt <> $2 AND restored_at IS NULL AND erased_at IS NULL
        )
        INSERT INTO erasures (application_id, receipt, uid, requested_at, purge_after, erased_at, certificate)
        VALUES ($1, $2, $3, $4, $5, $5, $6)
        ON CONFLICT (application_id, receipt) DO UPDATE
           SET erased_at = excluded.erased_at, certificate = excluded.certificate, restored_at = NULL,
               look_again_at = NULL
        """)

    package func conclude(_ erasure: DueErasure, erasedAt: Date, certificate: String) async throws {
        _ = try await run(
            Self.conclude,
            erasure.key + [
                .uuid(erasure.uid), .timestamp(erasure.requestedAt), .timestamp(erasedAt), .text(certificate),
            ])
    }

    private static let selectErasure = Statement(
        .read,
        """
        SELECT requested_at, purge_after, restored_at IS NOT NULL, erased_at, certificate
          FROM erasures
         WHERE application_id = $1 AND receipt = $2
        """)

    package func erasure(receipt: UUID, application: Int32) async throws -> ErasureStatus? {
        guard var row = try await run(Self.selectErasure, [.int4(application), .uuid(receipt)]).first else {
            return nil
        }
        let requestedAt: Date = try row.next()
        let purgeAfter: Date = try row.next()
        let isRestored: Bool = try row.next()
        let erasedAt: Date? = try row.next()
        return ErasureStatus(
            phase: isRestored ? .restored : erasedAt == nil ? .scheduled : .erased, requestedAt: requestedAt,
            purgeAfter: purgeAfter, erasedAt: erasedAt,
            processors: try await processors(receipt, application: application), certificate: try row.next())
    }
}

extension DueErasure {
    /// `$1` and `$2` of the statements about it.
    fileprivate var key: [Bind] { [.int4(application), .uuid(receipt)] }
}

extension Row {
    fileprivate func dueErasure() throws -> DueErasure {
        var row = self
        return DueErasure(
            application: try row.next(), receipt: try row.next(), uid: try row.next(), requestedAt: try row.next())
    }
}
