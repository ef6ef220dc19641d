package import Accounts
internal import Foundation
internal import Postgres

/// Reads the status of each processor, which is a webhook or a provider that an erasure waits for.
extension SQLStore {
    /// Includes providers whose tokens are still stored: they are notified once the erasure has begun.
    ///
    /// A delivery that was withdrawn when the account was restored stays pending: its webhook may be reachable.
    static let selectProcessors = Statement(
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
               AND (e.erased_at IS NULL OR r.is_of_erasure)
             GROUP BY r.provider
        ), held AS (
            SELECT DISTINCT i.provider
              FROM erasure e
              JOIN identities i ON i.application_id = $1 AND i.uid = e.uid
              JOIN provider_tokens t ON t.application_id = $1 AND t.identity_id = i.id
             WHERE e.restored_at IS NULL AND i.provider NOT IN (SELECT provider FROM revoked)
        )
        SELECT w.name, w.acknowledged_at,
               w.acknowledged_at IS NULL
               AND (w.failed_at IS NOT NULL AND w.failure IS DISTINCT FROM 'restored' OR e.erased_at IS NOT NULL),
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

    func processors(_ receipt: UUID, application: Application.ID) async throws -> [Processor] {
        try await run(Self.selectProcessors, [.application(application), .uuid(receipt)])
            .decoded { try $0.nextProcessor() }
    }

    private static let selectWaited = Statement(
        .read,
        """
        SELECT began_at IS NOT NULL, extract(epoch FROM now() - coalesce(began_at, now()))::float8
          FROM erasures
         WHERE application_id = $1 AND receipt = $2 AND restored_at IS NULL AND erased_at IS NULL
        """)

    package func state(of erasure: DueErasure) async throws -> ErasureState? {
        guard var row = try await run(Self.selectWaited, erasure.key).first else { return nil }
        return ErasureState(
            hasBegun: try row.next(), waited: .seconds(try row.next(Double.self)),
            processors: try await processors(erasure.receipt, application: erasure.application))
    }
}

extension Row {
    /// The columns of `selectProcessors`.
    mutating func nextProcessor() throws -> Processor {
        let name: String = try next()
        let acknowledgedAt: Date? = try next()
        let isUnreachable: Bool = try next()
        return Processor(
            name: name,
            status: acknowledgedAt.map { .acknowledged(at: $0) } ?? (isUnreachable ? .unreachable : .pending),
            isSettled: try next(), attempts: try next(), isUnderWay: try next())
    }
}
