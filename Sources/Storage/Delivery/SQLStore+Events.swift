package import Accounts
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: EventDeliveryStore, EventOutbox {
    /// Queues all events of one kind with one statement.
    private static let announce = Statement(
        .write,
        """
        INSERT INTO webhook_deliveries (application_id, event_id, webhook, name, kind, uid, details)
        SELECT $1, event.id, hook.url, hook.name, $6, event.uid, event.details::jsonb
          FROM unnest($2::uuid[], $3::uuid[], $4::text[]) AS event (id, uid, details),
               unnest($5::text[], $7::text[]) AS hook (url, name)
        """)

    package func announce(_ events: [AccountEvent], application: Application.ID) async throws {
        for (kind, events) in Dictionary(grouping: events, by: \.kind) {
            let subscribers = subscriptions.subscribers(to: kind)
            guard !subscribers.isEmpty else { continue }
            try await write(
                Self.announce,
                [
                    .application(application), .uuids(events.map(\.id)), .uuids(events.map(\.uid)),
                    .texts(try events.map { try JSONValue.object($0.details).jsonText() }),
                    .texts(subscribers.map(\.url)), .text(kind.rawValue), .texts(subscribers.map(\.name)),
                ]
            ) { _ in onChange(.queued) }
        }
    }

    /// Event ids are ordered by time.
    private static let selectLastDeliveries = Statement(
        .read,
        """
        SELECT event_id, CASE WHEN acknowledged_at IS NULL THEN failed_at END
          FROM webhook_deliveries
         WHERE application_id = $1 AND event_id = (
               SELECT event_id FROM webhook_deliveries
                WHERE application_id = $1 AND uid = $2 AND kind = $3
                ORDER BY event_id DESC
                LIMIT 1)
        """)

    package func deliveries(
        ofLast kind: AccountEvent.Kind, about uid: UUID, application: Application.ID
    ) async throws -> [(event: UUID, givenUpAt: Date?)] {
        try await run(Self.selectLastDeliveries, [.application(application), .uuid(uid), .text(kind.rawValue)])
            .decoded { (try $0.next(), try $0.next()) }
    }

    /// Leaves out the deliveries that a restoration of the account has withdrawn, and those about a deletion that was
    /// cancelled: a receiver would remove the data of a live account.
    static let ofNoCancelledDeletion: StaticString = """
        AND failure IS DISTINCT FROM 'restored'
        AND NOT EXISTS (SELECT 1 FROM erasures e
                         WHERE e.application_id = $1 AND e.receipt = (webhook_deliveries.details->>'receipt')::uuid
                           AND e.restored_at IS NOT NULL)
        """

    /// A leased delivery becomes due when its lease ends.
    ///
    /// A delivery to a webhook that is not configured would only be given up again.
    private static let retry = Statement(
        .write,
        """
        WITH delivery AS MATERIALIZED (
            SELECT event_id FROM webhook_deliveries
             WHERE application_id = $1 AND event_id = $2 AND acknowledged_at IS NULL
             ORDER BY webhook
               FOR UPDATE
        )
        UPDATE webhook_deliveries
           SET due_at = CASE WHEN leased_until > clock.now THEN due_at ELSE clock.now END, failed_at = NULL
          FROM (SELECT now() AS now) AS clock
         WHERE application_id = $1 AND event_id = $2 AND webhook = ANY ($3) AND acknowledged_at IS NULL
           AND (SELECT count(*) FROM delivery) > 0
        """, ofNoCancelledDeletion)

    package func retryUnacknowledged(of event: UUID, application: Application.ID) async throws {
        let binds: [Bind] = [.application(application), .uuid(event), .texts(subscriptions.urls)]
        try await write(Self.retry, binds) { retried in
            if retried.affected > 0 { onChange(.queued) }
        }
    }

    /// Retries deliveries of `account.deleted` and `account.erased` to configured webhooks, including those that were
    /// given up.
    ///
    /// Events of other kinds are not kept that long.
    private static let retryAll = Statement(
        .write,
        """
        WITH delivery AS MATERIALIZED (
            SELECT event_id FROM webhook_deliveries
             WHERE application_id = $1 AND acknowledged_at IS NULL AND kind IN ('account.deleted', 'account.erased')
             ORDER BY event_id, webhook
               FOR UPDATE
        ), due AS (
            UPDATE webhook_deliveries
               SET due_at = CASE WHEN leased_until > clock.now THEN due_at ELSE clock.now END, failed_at = NULL
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND acknowledged_at IS NULL AND kind IN ('account.deleted', 'account.erased')
               AND webhook = ANY ($2) AND (SELECT count(*) FROM delivery) > 0
        """, ofNoCancelledDeletion,
        """
            RETURNING uid
        )
        SELECT DISTINCT uid FROM due
        """)

    package func retryUnacknowledged(application: Application.ID) async throws -> [UUID] {
        try await run(Self.retryAll, [.application(application), .texts(subscriptions.urls)])
            .decoded { try $0.next() }
    }

    /// Logout tokens are not for webhooks, and so left out.
    private static let selectHasDue = Statement(
        .read,
        """
        SELECT 1 FROM webhook_deliveries
         WHERE application_id = $1 AND uid = ANY ($2) AND acknowledged_at IS NULL AND failed_at IS NULL
           AND (due_at <= now() OR leased_until > now()) AND webhook = ANY ($3)
         LIMIT 1
        """)

    package func hasDueDeliveries(about uids: [UUID], application: Application.ID) async throws -> Bool {
        let binds: [Bind] = [.application(application), .uuids(uids), .texts(subscriptions.urls)]
        return try await !run(Self.selectHasDue, binds).isEmpty
    }
}
