package import Accounts
package import Administration
package import Foundation
internal import Postgres

extension SQLStore: MessageListStore {
    private static let messageColumns: StaticString = """
        SELECT id, topic, channel, sent_at, failed_at, attempts, failure, created_at, due_at
          FROM outbox
        """

    /// Ids of messages begin with their time.
    private static let latestMessages: StaticString = """
         ORDER BY id DESC
         LIMIT $3
        """

    private static let selectMessages = Statement(
        .read, messageColumns, "WHERE application_id = $1 AND id < $2", latestMessages)

    private static let selectPending = Statement(
        .read, messageColumns, "WHERE application_id = $1 AND id < $2 AND sent_at IS NULL AND failed_at IS NULL",
        latestMessages)

    private static let selectFailed = Statement(
        .read, messageColumns, "WHERE application_id = $1 AND id < $2 AND failed_at IS NOT NULL", latestMessages)

    private static let selectSent = Statement(
        .read, messageColumns, "WHERE application_id = $1 AND id < $2 AND sent_at IS NOT NULL", latestMessages)

    package func messages(
        _ state: QueueState?, before id: UUID?, atMost count: Int, application: Application.ID
    ) async throws -> [ListedMessage] {
        let binds: [Bind] = [.application(application), .uuid(id ?? .last), .int(count)]
        let rows =
            switch state {
            case nil: try await run(Self.selectMessages, binds)
            case .delivered: try await run(Self.selectSent, binds)
            case .pending: try await run(Self.selectPending, binds)
            case .failed: try await run(Self.selectFailed, binds)
            }
        return try rows.decoded { try $0.nextMessage() }
    }

    private static let selectMessage = Statement(
        .read, messageColumns,
        """
         WHERE application_id = $1 AND id = $2
        """)

    package func message(_ id: UUID, application: Application.ID) async throws -> ListedMessage? {
        try await run(Self.selectMessage, [.application(application), .uuid(id)]).decoded { try $0.nextMessage() }.first
    }

    private static let lockMessage = Statement(
        .write, "SELECT id FROM outbox WHERE application_id = $1 AND id = $2 AND sent_at IS NULL FOR UPDATE")

    /// What is due within five seconds is left as it is, so that several calls at once, which began at different times,
    /// make one change.
    private static let retryMessage = Statement(
        .write,
        """
        WITH again AS (
            UPDATE outbox
               SET due_at = clock.now, failed_at = NULL, requeued_at = clock.now
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND id = $2 AND sent_at IS NULL
               AND (leased_until IS NULL OR leased_until <= clock.now)
               AND (failed_at IS NOT NULL OR due_at > clock.now + interval '5 seconds')
            RETURNING uid, topic, channel
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'message.retried',
                   (SELECT sha256(a.audit_key || uuid_send(a.uid)) FROM accounts a
                     WHERE a.application_id = $1 AND a.uid = m.uid),
                   $3::jsonb || jsonb_build_object('type', m.topic, 'channel', m.channel)
              FROM again m
        )
        SELECT 1 FROM again
        """)

    package func retryMessage(_ id: UUID, by act: AdministrativeAct, application: Application.ID) async throws {
        let binds: [Bind] = [.application(application), .uuid(id)]
        try await write(Self.lockMessage, binds)
        let retried = try await run(Self.retryMessage, binds + [.act(act)])
        if !retried.isEmpty { onChange(.queued) }
    }
}

extension Row {
    fileprivate mutating func nextMessage() throws -> ListedMessage {
        ListedMessage(id: try next(), topic: try next(), channel: try next(), progress: try nextProgress())
    }
}
