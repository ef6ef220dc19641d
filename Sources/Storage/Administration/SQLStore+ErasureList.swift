package import Accounts
package import Administration
package import Foundation
internal import Postgres

extension SQLStore: ErasureListStore {
    /// Sorted by the microseconds of the request, which a cursor has exactly.
    private static let erasureColumns: StaticString = """
        SELECT e.receipt, e.uid,
               CASE WHEN e.erased_at IS NOT NULL THEN 'erased' WHEN e.restored_at IS NOT NULL THEN 'restored'
                    ELSE 'scheduled' END,
               e.requested_at, e.purge_after, e.began_at, e.restored_at, e.erased_at,
               (extract(epoch FROM e.requested_at) * 1000000)::int8
          FROM erasures e
        """

    private static let latestErasures: StaticString = """
           AND (e.requested_at, e.receipt) < ('epoch'::timestamptz + $2 * interval '1 microsecond', $3)
         ORDER BY e.requested_at DESC, e.receipt DESC
         LIMIT $4
        """

    private static let selectListedErasures = Statement(
        .read, erasureColumns, "WHERE e.application_id = $1", latestErasures)

    private static let selectErasuresByStatus = Statement(
        .read, erasureColumns,
        """
         WHERE e.application_id = $1
           AND CASE WHEN e.erased_at IS NOT NULL THEN 'erased' WHEN e.restored_at IS NOT NULL THEN 'restored'
                    ELSE 'scheduled' END = $5
        """, latestErasures)

    package func erasures(
        _ phase: ErasureStatus.Phase?, before position: (at: Int, id: UUID)?, atMost count: Int,
        application: Application.ID
    ) async throws -> [ListedErasure] {
        var binds: [Bind] = [
            .application(application), .int(position?.at ?? .endOfTime), .uuid(position?.id ?? .last),
            .int(count),
        ]
        if let phase { binds.append(.text(phase.rawValue)) }
        let erasures = try await run(phase == nil ? Self.selectListedErasures : Self.selectErasuresByStatus, binds)
            .decoded { try $0.nextErasure() }
        return try await withProcessors(erasures, application: application)
    }

    private static let selectListedErasure = Statement(
        .read, erasureColumns,
        """
         WHERE e.application_id = $1 AND e.receipt = $2
        """)

    package func listedErasure(_ receipt: UUID, application: Application.ID) async throws -> ListedErasure? {
        let erasures = try await run(Self.selectListedErasure, [.application(application), .uuid(receipt)])
            .decoded { try $0.nextErasure() }
        return try await withProcessors(erasures, application: application).first
    }

    /// Reads the processors of all erasures in one round trip.
    private func withProcessors(
        _ erasures: [ListedErasure], application: Application.ID
    ) async throws -> [ListedErasure] {
        guard !erasures.isEmpty else { return [] }
        let answers = try await run(
            erasures.map { (Self.selectProcessors, [.application(application), .uuid($0.receipt)]) })
        return try zip(erasures, answers).map { erasure, rows in
            var erasure = erasure
            erasure.processors = try rows.decoded { try $0.nextProcessor() }
            return erasure
        }
    }

    /// Locks deliveries before revocations, the order of the worker that concludes an erasure.
    private static let lockErasureDeliveries = Statement(
        .write,
        """
        SELECT event_id FROM webhook_deliveries
         WHERE application_id = $1 AND uid = $2 AND kind = 'account.deleted' AND acknowledged_at IS NULL
           AND details->>'receipt' = $3::text
         ORDER BY event_id, webhook
           FOR UPDATE
        """)

    private static let lockErasureRevocations = Statement(
        .write,
        """
        SELECT id FROM token_revocations
         WHERE application_id = $1 AND uid = $2 AND revoked_at IS NULL AND failed_at IS NULL
         ORDER BY id
           FOR UPDATE
        """)

    /// What is due within five seconds is left as it is, so that several calls at once, which began at different times,
    /// make one change.
    ///
    /// The event names neither the receipt nor the deliveries, which stay in the database when the account is erased.
    private static let retryProcessors = Statement(
        .write,
        """
        WITH told AS (
            UPDATE webhook_deliveries
               SET due_at = clock.now, failed_at = NULL, requeued_at = clock.now
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND uid = $2 AND kind = 'account.deleted' AND acknowledged_at IS NULL
               AND details->>'receipt' = $3::text AND (leased_until IS NULL OR leased_until <= clock.now)
               AND (failed_at IS NOT NULL OR due_at > clock.now + interval '5 seconds')
        """, ofNoCancelledDeletion,
        """
            RETURNING event_id
        ), revoked AS (
            UPDATE token_revocations SET due_at = clock.now
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND uid = $2 AND revoked_at IS NULL AND failed_at IS NULL
               AND (leased_until IS NULL OR leased_until <= clock.now) AND due_at > clock.now + interval '5 seconds'
            RETURNING id
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'erasure.retried', sha256(a.audit_key || uuid_send(a.uid)), $4::jsonb
              FROM accounts a
             WHERE a.application_id = $1 AND a.uid = $2
               AND (EXISTS (SELECT 1 FROM told) OR EXISTS (SELECT 1 FROM revoked))
        )
        SELECT 1 FROM told UNION ALL SELECT 1 FROM revoked
        """)

    package func retryProcessors(
        of erasure: ListedErasure, by act: AdministrativeAct, application: Application.ID
    ) async throws {
        let account: [Bind] = [.application(application), .uuid(erasure.uid)]
        let binds = account + [.text(erasure.receipt.text)]
        try await write(Self.lockErasureDeliveries, binds)
        try await write(Self.lockErasureRevocations, account)
        let retried = try await run(Self.retryProcessors, binds + [.act(act)])
        if !retried.isEmpty { onChange(.queued) }
    }
}

extension Int {
    /// The year 3000 in microseconds since the epoch: where a list begins that has the newest rows first.
    static let endOfTime = 32_503_680_000_000_000
}

extension Row {
    fileprivate mutating func nextErasure() throws -> ListedErasure {
        let (receipt, uid, phase): (UUID, UUID, String) = (try next(), try next(), try next())
        return ListedErasure(
            receipt: receipt, uid: uid, phase: ErasureStatus.Phase(rawValue: phase) ?? .scheduled,
            requestedAt: try next(), purgeAfter: try next(), beganAt: try next(), restoredAt: try next(),
            erasedAt: try next(), position: try next())
    }
}
