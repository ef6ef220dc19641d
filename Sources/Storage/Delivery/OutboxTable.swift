package import Accounts
package import Foundation
package import Postgres

/// The workers' side of the outbox.
package struct OutboxTable: OutboxQueue {
    let database: Database
    private let sealing: any Sealing
    package let arrivals: AsyncStream<Void>

    package init(database: Database, sealing: any Sealing, arrivals: AsyncStream<Void>) {
        self.database = database
        self.sealing = sealing
        self.arrivals = arrivals
    }

    /// A lease is nothing but a later due time: a worker that dies gives its messages back by letting it pass.
    private static let take = Statement(
        .write,
        """
        WITH due AS MATERIALIZED (
            SELECT application_id, id FROM outbox
             WHERE sent_at IS NULL AND failed_at IS NULL AND channel = $3 AND due_at <= now()
             ORDER BY due_at
             LIMIT $1
               FOR UPDATE SKIP LOCKED
        ), taken AS (
            UPDATE outbox o SET due_at = now() + $2::interval, attempts = attempts + 1
              FROM due
             WHERE o.application_id = due.application_id AND o.id = due.id
            RETURNING o.application_id, o.id, o.sealed, o.attempts - 1 AS attempts
        )
        SELECT t.application_id, a.name, t.id, t.sealed, t.attempts
          FROM taken t JOIN applications a ON a.id = t.application_id
         ORDER BY t.id
        """)

    package func take(
        _ channel: MessageChannel, atMost count: Int, lease: Duration
    ) async throws -> [TakenMessage] {
        let rows = try await translatingErrors {
            try await database.execute(Self.take, [.int(count), .interval(lease), .text(channel.rawValue)])
        }
        var messages: [TakenMessage] = []
        for row in rows {
            var row = row
            let application = try row.next(Application.ID.self)
            let name: String = try row.next()
            let id: UUID = try row.next()
            let sealed: [UInt8] = try row.next()
            guard let opened = try? sealing.open(sealed, at: .outbox(application: application, id: id)),
                let message = try? JSONDecoder().decode(Message.self, from: Data(opened))
            else {
                try await markFailed(id, reason: "unreadable", retryAfter: nil, application: application)
                continue
            }
            messages.append(
                TakenMessage(
                    message: message, application: application, applicationName: name, attempts: try row.next()))
        }
        return messages
    }

    private static let markSent = Statement(
        .write,
        """
        UPDATE outbox SET sent_at = now(), sealed = NULL, recipient = NULL, failure = NULL
         WHERE application_id = $1 AND id = $2
        """)

    package func markSent(_ id: UUID, application: Application.ID) async throws {
        try await translatingErrors {
            _ = try await database.execute(Self.markSent, [.application(application), .uuid(id)])
        }
    }

    private static let markFailed = Statement(
        .write,
        """
        UPDATE outbox
           SET due_at = now() + coalesce($3, interval '0'), failure = $4,
               failed_at = CASE WHEN $3::interval IS NULL THEN now() END
         WHERE application_id = $1 AND id = $2
        """)

    package func markFailed(
        _ id: UUID, reason: String, retryAfter delay: Duration?, application: Application.ID
    ) async throws {
        try await translatingErrors {
            _ = try await database.execute(
                Self.markFailed, [.application(application), .uuid(id), .interval(delay), .text(reason)])
        }
    }
}
