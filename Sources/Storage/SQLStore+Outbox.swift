package import Accounts
internal import Foundation
internal import Postgres

extension SQLStore {
    private static let enqueue = Statement(
        .write,
        """
        WITH written AS (
            INSERT INTO outbox (application_id, id, topic, channel, sealed, recipient) VALUES ($1, $2, $3, $4, $5, $6)
            RETURNING id
        )
        SELECT pg_notify('gatehouse', 'outbox') FROM written
        """)

    package func enqueue(_ messages: [Message], application: Int32) async throws {
        for message in messages {
            let sealed = try sealing.seal(
                Array(JSONEncoder().encode(message)), at: .outbox(application: application, id: message.id))
            _ = try await run(
                Self.enqueue,
                [
                    .int4(application), .uuid(message.id), .text(message.topic.rawValue),
                    .text(message.channel.rawValue), .bytes(sealed), .bytes(sealing.mark(of: message.to)),
                ])
        }
    }
}

extension SealingPlace {
    static func outbox(application: Int32, id: UUID) -> SealingPlace {
        SealingPlace(application: application, table: "outbox", column: "sealed", row: id.text)
    }
}
