package import Accounts
internal import Foundation
package import Postgres
internal import ProviderKit

/// Takes events to deliver to webhooks, and records the outcome.
package struct WebhookDeliveriesTable: EventQueue {
    private let database: Database
    private let turns: ApplicationTurns
    private let scope: DeliveryScope
    package let arrivals: AsyncStream<Void>

    package init(database: Database, scope: DeliveryScope = .all, arrivals: AsyncStream<Void>) {
        self.database = database
        turns = ApplicationTurns(.applicationsWithDueDeliveries, database: database)
        self.scope = scope
        self.arrivals = arrivals
    }

    private static let take = Statement(
        .write,
        """
        WITH due AS MATERIALIZED (
            SELECT d.event_id, d.webhook
              FROM unnest($2::text[], $3::bigint[]) AS hook (url, places)
             CROSS JOIN LATERAL (
                   SELECT event_id, webhook FROM webhook_deliveries
                    WHERE application_id = $1 AND webhook = hook.url AND acknowledged_at IS NULL AND failed_at IS NULL
                      AND due_at <= now() AND ($5::uuid[] IS NULL OR uid = ANY ($5))
                    ORDER BY due_at
                    LIMIT hook.places
                      FOR UPDATE SKIP LOCKED) d
        ), taken AS (
            UPDATE webhook_deliveries w
               SET due_at = now() + $4::interval, leased_until = now() + $4::interval, attempts = attempts + 1
              FROM due
             WHERE w.application_id = $1 AND w.event_id = due.event_id AND w.webhook = due.webhook
            RETURNING w.event_id, w.webhook, w.kind, w.uid, w.details, w.created_at, w.requeued_at,
                      w.attempts - 1 AS attempts
        )
        SELECT event_id, webhook, kind, uid, details::text, created_at, requeued_at, attempts FROM taken ORDER BY event_id
        """)

    package func take(_ places: [String: Int], lease: Duration) async throws -> [TakenDelivery] {
        try await turns.take(places, dueBy: [.texts(Array(places.keys))]) {
            try await take($2, of: $0, named: $1, lease: lease)
        }
    }

    private func take(
        _ places: [String: Int], of application: Application.ID, named name: String, lease: Duration
    ) async throws -> [TakenDelivery] {
        let webhooks = Array(places)
        let rows = try await database.once(
            Self.take,
            [
                .application(application), .texts(webhooks.map(\.key)), .ints(webhooks.map(\.value)),
                .interval(lease), scope.bind,
            ])
        return try rows.decoded { row in
            TakenDelivery(
                event: try row.next(), webhook: try row.next(), application: application,
                applicationName: name, kind: try row.next(), uid: try row.next(),
                details: try JSONValue(jsonText: row.next()).object ?? [:], createdAt: try row.next(),
                requeuedAt: try row.next(), attempts: try row.next())
        }
    }

    /// Selects the deliveries about erased accounts that are deleted once they are acknowledged or given up, because their
    /// details contain ids that the audit has too.
    ///
    /// `SQLStore.conclude` truncates their `created_at`. A statement that had to wait for it neither deletes nor marks the
    /// delivery, and the event is delivered once more.
    static let leavingNothing: StaticString = """
        (created_at = whole_day(created_at) AND kind NOT IN ('account.deleted', 'account.erased'))
        """

    /// Marks a delivery as acknowledged, and makes the erasure that waits for it due.
    ///
    /// A delivery stays acknowledged even if another attempt to deliver the event fails. The erasure is due since a minute
    /// ago, so that a call of `postpone` that began earlier, and has waited, leaves it due.
    ///
    /// If the account was erased in the meantime, only the day of the acknowledgement is kept (`SQLStore.conclude`).
    private static let markAcknowledged = Statement(
        .write,
        """
        WITH dropped AS (
            DELETE FROM webhook_deliveries
             WHERE application_id = $1 AND event_id = $2 AND webhook = $3 AND acknowledged_at IS NULL AND
        """, leavingNothing,
        """
        ), acknowledged AS (
            UPDATE webhook_deliveries
               SET acknowledged_at = CASE WHEN created_at = whole_day(created_at) THEN whole_day(clock.now)
                                          ELSE clock.now END,
                   event_id = CASE WHEN created_at = whole_day(created_at) THEN whole_day(event_id) ELSE event_id END,
                   failed_at = NULL, failure = NULL, leased_until = NULL
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND event_id = $2 AND webhook = $3 AND acknowledged_at IS NULL AND NOT
        """, leavingNothing,
        """
            RETURNING uid, kind
        )
        UPDATE erasures e SET look_again_at = now() - interval '1 minute'
          FROM acknowledged a
         WHERE a.kind = 'account.deleted' AND e.application_id = $1 AND e.uid = a.uid
           AND e.began_at IS NOT NULL AND e.restored_at IS NULL AND e.erased_at IS NULL
        """)

    package func markDelivered(_ delivery: TakenDelivery) async throws {
        try await database.once(Self.markAcknowledged, delivery.key)
    }

    /// Records the logout tokens among the deliveries `given_up`.
    private static let auditUndelivered: StaticString = """
        INSERT INTO audit_events (application_id, event, account, session_id, details)
        SELECT $1, 'logout.undelivered', sha256(a.audit_key || uuid_send(a.uid)),
               session_pseudonym(a.audit_key, g.event_id), jsonb_build_object('client', g.name)
          FROM given_up g JOIN accounts a ON a.application_id = $1 AND a.uid = g.uid
         WHERE g.kind = 'backchannel-logout'
        """

    /// Leaves a delivery alone that another worker has taken since, or that was withdrawn.
    private static let markFailed = Statement(
        .write,
        """
        WITH dropped AS (
            DELETE FROM webhook_deliveries
             WHERE application_id = $1 AND event_id = $2 AND webhook = $3 AND attempts = $6 AND acknowledged_at IS NULL
               AND failed_at IS NULL AND $4::interval IS NULL AND
        """, leavingNothing,
        """
        ), failed AS (
            UPDATE webhook_deliveries
               SET due_at = clock.now + coalesce($4, interval '0'), failure = $5, leased_until = NULL,
                   failed_at = CASE WHEN $4::interval IS NULL THEN clock.now END
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND event_id = $2 AND webhook = $3 AND attempts = $6 AND acknowledged_at IS NULL
               AND failed_at IS NULL AND NOT ($4::interval IS NULL AND
        """, leavingNothing,
        """
               )
            RETURNING event_id, name, kind, uid
        ), given_up AS (
            SELECT event_id, name, kind, uid FROM failed WHERE $4::interval IS NULL
        )
        """, auditUndelivered)

    package func markFailed(_ delivery: TakenDelivery, reason: String, retryAfter delay: Duration?) async throws {
        try await database.once(
            Self.markFailed, delivery.key + [.interval(delay), .text(reason), .int(delivery.attempts + 1)])
    }

    private static let giveUp = Statement(
        .write,
        """
        WITH given_up AS (
            UPDATE webhook_deliveries SET failed_at = now(), failure = $4
             WHERE application_id = $1 AND ctid = ANY (ARRAY(
                   SELECT ctid FROM webhook_deliveries
                    WHERE application_id = $1 AND acknowledged_at IS NULL AND failed_at IS NULL
                      AND webhook <> ALL ($2::text[]) AND due_at < now() - $3::interval AND NOT
        """, leavingNothing,
        """
                    LIMIT 1000
                      FOR UPDATE SKIP LOCKED))
            RETURNING event_id, name, kind, uid
        ), dropped AS (
            DELETE FROM webhook_deliveries
             WHERE application_id = $1 AND ctid = ANY (ARRAY(
                   SELECT ctid FROM webhook_deliveries
                    WHERE application_id = $1 AND acknowledged_at IS NULL AND failed_at IS NULL
                      AND webhook <> ALL ($2::text[]) AND due_at < now() - $3::interval AND
        """, leavingNothing,
        """
                    LIMIT 1000
                      FOR UPDATE SKIP LOCKED))
        ), audited AS (
        """, auditUndelivered,
        """
        )
        SELECT 1 FROM given_up
        """)

    package func giveUp(allBut webhooks: [String], overdue: Duration, reason: String) async throws -> Int {
        guard case .all = scope else { return 0 }
        let sorted = webhooks.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let condition: [Bind] = [.texts(sorted), .interval(overdue)]
        var count = 0
        for application in try await ApplicationsTable(database: database)
            .select(.applicationsWithOverdueDeliveries, condition)
        {
            let binds = [.application(application.id)] + condition + [.text(reason)]
            count += try await database.once(Self.giveUp, binds).count
        }
        return count
    }
}

extension TakenDelivery {
    /// The binds `$1` to `$3` that identify the delivery.
    fileprivate var key: [Bind] { [.application(application), .uuid(event), .text(webhook)] }
}
