package import Accounts
package import Foundation
package import Postgres

extension SQLStore: MessageOutbox {
    package static let enqueue = Statement(
        .write,
        """
        INSERT INTO outbox (application_id, id, topic, channel, sealed, recipient, uid)
        SELECT $1, $2, $3, $4, $5, $6,
               coalesce($7, (SELECT uid FROM addresses WHERE application_id = $1 AND address = $9 AND kind = $8))
        """)

    package func enqueue(_ messages: [Message], about uid: UUID?, application: Application.ID) async throws {
        for message in messages {
            let sealed = try sealing.seal(json: message, at: .outbox(application: application, id: message.id))
            try await write(
                Self.enqueue,
                [
                    .application(application), .uuid(message.id), .text(message.topic.rawValue),
                    .text(message.channel.rawValue), .bytes(sealed), .bytes(sealing.mark(of: message.to)),
                    .uuid(uid), .text(message.channel.addressKind), .text(message.to),
                ]
            ) { _ in onChange(.queued) }
        }
    }
}

// MARK: - Export of personal data

extension SQLStore {
    /// Includes messages to the account's addresses from before it owned them.
    static let personalMessages = Statement(
        .read, family, PersonalDataSection.keyed,
        """
        SELECT id::text AS key, id, topic, channel, attempts, failure, rfc3339(created_at) AS created_at,
               rfc3339(sent_at) AS sent_at, rfc3339(failed_at) AS failed_at
          FROM outbox
         WHERE application_id = $1
           AND (uid = ANY (ARRAY(SELECT uid FROM family)) OR recipient = ANY ($5))
        """, PersonalDataSection.page)

    private static let selectAddresses = Statement(
        .read, family, "SELECT address FROM addresses", ofFamily)

    /// The marks (keyed hashes) of the addresses of the account and of accounts merged into it.
    func marks(of uid: UUID, application: Application.ID) async throws -> [[UInt8]] {
        try await run(Self.selectAddresses, [.application(application), .uuid(uid)]).decoded { row in
            sealing.mark(of: try row.next())
        }
    }
}

extension MessageChannel {
    /// The value of `addresses.kind` for the channel.
    fileprivate var addressKind: String {
        switch self {
        case .email: "email"
        case .sms: "phone"
        }
    }
}

extension SealingPlace {
    static func outbox(application: Application.ID, id: UUID) -> SealingPlace {
        SealingPlace(application: application, table: "outbox", column: "sealed", row: id.text)
    }
}
