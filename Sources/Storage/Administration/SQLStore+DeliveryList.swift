package import Accounts
package import Administration
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: DeliveryListStore {
    private static let deliveryColumns: StaticString = """
        SELECT event_id, name, kind, uid, acknowledged_at, failed_at, attempts, failure, created_at, due_at
          FROM webhook_deliveries
        """

    /// Ids of events begin with their time.
    private static let latestDeliveries: StaticString = """
         ORDER BY event_id DESC, webhook DESC
         LIMIT $3
        """

    private static let selectListedDeliveries = Statement(
        .read, deliveryColumns, "WHERE application_id = $1 AND event_id <= $2", latestDeliveries)

    private static let selectPending = Statement(
        .read, deliveryColumns,
        "WHERE application_id = $1 AND event_id <= $2 AND acknowledged_at IS NULL AND failed_at IS NULL",
        latestDeliveries)

    private static let selectFailed = Statement(
        .read, deliveryColumns, "WHERE application_id = $1 AND event_id <= $2 AND failed_at IS NOT NULL",
        latestDeliveries)

    private static let selectAcknowledged = Statement(
        .read, deliveryColumns, "WHERE application_id = $1 AND event_id <= $2 AND acknowledged_at IS NOT NULL",
        latestDeliveries)

    package func deliveries(
        _ state: QueueState?, upTo last: UUID?, atMost count: Int, application: Application.ID
    ) async throws -> [ListedDelivery] {
        let binds: [Bind] = [.application(application), .uuid(last ?? .last), .int(count)]
        let rows =
            switch state {
            case nil: try await run(Self.selectListedDeliveries, binds)
            case .delivered: try await run(Self.selectAcknowledged, binds)
            case .pending: try await run(Self.selectPending, binds)
            case .failed: try await run(Self.selectFailed, binds)
            }
        return try rows.decoded { try $0.nextDelivery() }
    }

    private static let selectDeliveriesOfEvent = Statement(
        .read, deliveryColumns,
        """
         WHERE application_id = $1 AND event_id = $2
         ORDER BY webhook
        """)

    package func deliveries(of event: UUID, application: Application.ID) async throws -> [ListedDelivery] {
        try await run(Self.selectDeliveriesOfEvent, [.application(application), .uuid(event)])
            .decoded { try $0.nextDelivery() }
    }

    private static let lockDeliveriesOfEvent = Statement(
        .write,
        """
        SELECT event_id FROM webhook_deliveries
         WHERE application_id = $1 AND event_id = $2 AND acknowledged_at IS NULL
         ORDER BY webhook
           FOR UPDATE
        """)

    /// What is due within five seconds is left as it is, so that several calls at once, which began at different times,
    /// make one change.
    private static let retryDeliveries = Statement(
        .write,
        """
        WITH again AS (
            UPDATE webhook_deliveries
               SET due_at = clock.now, failed_at = NULL, requeued_at = clock.now
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND event_id = $2 AND acknowledged_at IS NULL
               AND (leased_until IS NULL OR leased_until <= clock.now)
               AND (failed_at IS NOT NULL OR due_at > clock.now + interval '5 seconds')
        """, ofNoCancelledDeletion,
        """
            RETURNING uid, kind
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'delivery.retried',
                   (SELECT sha256(a.audit_key || uuid_send(a.uid)) FROM accounts a
                     WHERE a.application_id = $1 AND a.uid = r.uid),
                   $3::jsonb || jsonb_build_object('type', r.kind)
              FROM (SELECT DISTINCT uid, kind FROM again) AS r
        )
        SELECT 1 FROM again
        """)

    package func retryDeliveries(
        of event: UUID, by act: AdministrativeAct, application: Application.ID
    ) async throws {
        let binds: [Bind] = [.application(application), .uuid(event)]
        try await write(Self.lockDeliveriesOfEvent, binds)
        let retried = try await run(Self.retryDeliveries, binds + [.act(act)])
        if !retried.isEmpty { onChange(.queued) }
    }
}

extension Row {
    fileprivate mutating func nextDelivery() throws -> ListedDelivery {
        ListedDelivery(
            event: try next(), name: try next(), type: try next(), uid: try next(), progress: try nextProgress())
    }

    /// The columns from the time of the delivery to `due_at`.
    mutating func nextProgress() throws -> QueueProgress {
        QueueProgress(
            deliveredAt: try next(), failedAt: try next(), attempts: try next(), failure: try next(),
            createdAt: try next(), dueAt: try next())
    }
}
