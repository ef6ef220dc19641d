package import Accounts
package import Administration
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: AuditListStore {
    /// Each statement begins with the filter by which an index finds the fewest events.
    private static let auditedBefore: StaticString = """
        SELECT application_id, id, (extract(epoch FROM at) * 1000000)::int8, event, account, session_id, details::text
          FROM audit_events
         WHERE application_id = $1
           AND (at, id) < ('epoch'::timestamptz + $2 * interval '1 microsecond', $3)
           AND at >= coalesce($4::timestamptz, '-infinity') AND at < coalesce($5::timestamptz, 'infinity')
        """

    private static let newestFirst: StaticString = """
         ORDER BY at DESC, id DESC
         LIMIT $6
        """

    private static let selectAudit = Statement(.read, auditedBefore, newestFirst)

    private static let selectAuditByEvent = Statement(.read, auditedBefore, "AND event = $7", newestFirst)

    private static let selectAuditByActor = Statement(
        .read, auditedBefore, "AND details->'actor' = $8 AND ($7::text IS NULL OR event = $7)", newestFirst)

    private static let selectAuditByAccount = Statement(
        .read, auditedBefore,
        """
           AND account = $9 AND ($7::text IS NULL OR event = $7) AND ($8::jsonb IS NULL OR details->'actor' = $8)
        """, newestFirst)

    package func auditEvents(
        _ filter: AuditFilter, before position: (at: Int, id: UUID)?, atMost count: Int, application: Application.ID
    ) async throws -> [AuditEvent] {
        var binds: [Bind] = [
            .application(application), .int(position?.at ?? .endOfTime), .uuid(position?.id ?? .last),
            .timestamp(filter.since), .timestamp(filter.until), .int(count),
        ]
        var statement = Self.selectAudit
        let actor = try filter.actor?.jsonText()
        if let account = filter.account {
            binds += [.text(filter.event), .json(actor), .bytes(account)]
            statement = Self.selectAuditByAccount
        } else if actor != nil {
            binds += [.text(filter.event), .json(actor)]
            statement = Self.selectAuditByActor
        } else if let event = filter.event {
            binds.append(.text(event))
            statement = Self.selectAuditByEvent
        }
        return try await run(statement, binds).map { try $0.auditEvent() }
    }

    package func auditEvents(
        after last: AuditEvent?, since: Date?, atMost count: Int, application: Application.ID
    ) async throws -> [AuditEvent] {
        let binds: [Bind] = [
            .application(application), .timestamp(since), .int(last?.at ?? 0), .uuid(last?.id ?? .zero), .int(count),
        ]
        return try await run(AuditTable.selectEvents, binds).map { try $0.auditEvent() }
    }

    private static let selectByPseudonym = Statement(
        .read,
        """
        SELECT sha256(audit_key || uuid_send(uid)), uid
          FROM accounts
         WHERE application_id = $1 AND sha256(audit_key || uuid_send(uid)) = ANY ($2)
        """)

    package func accounts(
        pseudonyms: [[UInt8]], application: Application.ID
    ) async throws -> [[UInt8]: UUID] {
        guard !pseudonyms.isEmpty else { return [:] }
        let rows = try await run(Self.selectByPseudonym, [.application(application), .bytesArray(pseudonyms)])
        let pairs = try rows.decoded { row in (try row.next([UInt8].self), try row.next(UUID.self)) }
        return Dictionary(pairs) { first, _ in first }
    }

    private static let selectPseudonym = Statement(
        .read,
        """
        SELECT sha256(audit_key || uuid_send(uid)) FROM accounts WHERE application_id = $1 AND uid = $2
        """)

    package func pseudonym(of uid: UUID, application: Application.ID) async throws -> [UInt8]? {
        try await run(Self.selectPseudonym, [.application(application), .uuid(uid)])
            .decoded { try $0.next([UInt8].self) }.first
    }
}
