package import Accounts
package import Administration
internal import Foundation
internal import Postgres

/// What waits for webhooks, and events that are posted again.
extension SQLStore {
    /// The newest deliveries that were given up, without those that were withdrawn.
    private static let selectGivenUp = Statement(
        .read,
        """
        SELECT webhook FROM webhook_deliveries
         WHERE application_id = $1 AND failed_at IS NOT NULL AND failure IS DISTINCT FROM 'restored'
         ORDER BY event_id DESC
         LIMIT $2
        """)

    private static let selectWaiting = Statement(
        .read,
        """
        SELECT count(*), min(created_at), max(failure)
          FROM (SELECT created_at, failure FROM webhook_deliveries
                 WHERE application_id = $1 AND webhook = $2 AND acknowledged_at IS NULL AND failed_at IS NULL
                 ORDER BY due_at
                 LIMIT $3) AS waiting
        """)

    package func backlogs(
        of webhooks: [String], application: Application.ID
    ) async throws -> [String: WebhookBacklog] {
        let (id, most) = (Bind.application(application), Bind.int(WebhookBacklog.most))
        var backlogs: [String: WebhookBacklog] = [:]
        let answers = try await run(webhooks.map { (Self.selectWaiting, [id, .text($0), most]) })
        for (webhook, rows) in zip(webhooks, answers) {
            var row = try rows.firstOrConflict()
            var backlog = WebhookBacklog()
            (backlog.pending, backlog.oldestPendingAt, backlog.failure) = (
                try row.next(), try row.next(), try row.next()
            )
            backlogs[webhook] = backlog
        }
        for webhook in try await run(Self.selectGivenUp, [id, most]).decoded({ try $0.next(String.self) }) {
            backlogs[webhook]?.failed += 1
        }
        return backlogs
    }

    /// The kept events of a webhook in a range of times.
    ///
    /// The id of an event has its time by the clock of a server, and the row that of the database; they differ by a minute
    /// at most. An id whose time is the beginning of a day was changed by an erasure, so that no receiver knows it.
    private static let replayable: StaticString = """
        SELECT event_id FROM webhook_deliveries
         WHERE application_id = $1 AND webhook = $2 AND event_id >= $3 AND event_id < $4
           AND created_at >= $5 AND created_at < $6 AND ($7::text[] IS NULL OR kind = ANY ($7))
           AND (acknowledged_at IS NOT NULL OR failed_at IS NOT NULL) AND event_id <> whole_day(event_id)
        """

    private static let firstReplayable: StaticString = """
         ORDER BY event_id
         LIMIT $8
        """

    private static let countReplayable = Statement(
        .read, "SELECT count(*) FROM (", replayable, ofNoCancelledDeletion, firstReplayable, ") AS replayable")

    package func countReplayable(
        _ replay: WebhookReplay, atMost most: Int, application: Application.ID
    ) async throws -> Int {
        var row = try await one(Self.countReplayable, replay.binds(atMost: most, application: application))
        return try row.next()
    }

    /// An erasure that is not carried out yet waits for the new acknowledgement of its deletion.
    private static let replay = Statement(
        .write, "WITH chosen AS MATERIALIZED (", replayable, ofNoCancelledDeletion, firstReplayable,
        """
           FOR UPDATE
        ), again AS (
            UPDATE webhook_deliveries w
               SET due_at = clock.now, requeued_at = clock.now, acknowledged_at = NULL, failed_at = NULL,
                   failure = NULL, leased_until = NULL, attempts = 0
              FROM chosen c, (SELECT now() AS now) AS clock
             WHERE w.application_id = $1 AND w.event_id = c.event_id AND w.webhook = $2
            RETURNING w.event_id, w.name
        ), replayed AS (
            SELECT count(*) AS events, min(name) AS name FROM again
        ), audited AS (
            INSERT INTO audit_events (application_id, event, details)
            SELECT $1, 'webhook.replayed', $9::jsonb || jsonb_build_object('webhook', name, 'events', events)
              FROM replayed
             WHERE events > 0
        )
        SELECT events FROM replayed
        """)

    package func replay(
        _ replay: WebhookReplay, atMost most: Int, by act: AdministrativeAct, application: Application.ID
    ) async throws -> Int {
        let binds = replay.binds(atMost: most, application: application) + [try .act(act)]
        var row = try await one(Self.replay, binds)
        let count: Int = try row.next()
        if count > 0 { onChange(.queued) }
        return count
    }
}

extension WebhookReplay {
    fileprivate func binds(atMost most: Int, application: Application.ID) -> [Bind] {
        let margin: TimeInterval = 60
        return [
            .application(application), .text(webhook.url), .uuid(.firstV7(at: since - margin)),
            .uuid(.firstV7(at: until + margin)), .timestamp(since), .timestamp(until), .texts(types), .int(most),
        ]
    }
}
