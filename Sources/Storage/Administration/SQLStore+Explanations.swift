package import Accounts
package import Administration
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: ExplanationStore {
    /// Reads at most `$5` events of each account by the index of accounts, and sorts only these.
    private static let selectTimeline = Statement(
        .read,
        """
        SELECT e.application_id, e.id, (extract(epoch FROM e.at) * 1000000)::int8, e.event, own.account, e.session_id,
               e.details::text
          FROM unnest($2::bytea[]) AS own (account)
         CROSS JOIN LATERAL (
               SELECT a.application_id, a.id, a.at, a.event, a.session_id, a.details
                 FROM audit_events a
                WHERE a.application_id = $1 AND a.account = own.account
                  AND (a.at, a.id) < (coalesce('epoch'::timestamptz + $3 * interval '1 microsecond', 'infinity'), $4)
                ORDER BY a.at DESC, a.id DESC
                LIMIT $5) e
         ORDER BY e.at DESC, e.id DESC
         LIMIT $5
        """)

    package func timeline(
        of accounts: [[UInt8]], before position: (at: Int, id: UUID)?, atMost count: Int, application: Application.ID
    ) async throws -> [AuditEvent] {
        let binds: [Bind] = [
            .application(application), .bytesArray(accounts), .int(position?.at), .uuid(position?.id ?? .last),
            .int(count),
        ]
        return try await run(Self.selectTimeline, binds).map { try $0.auditEvent() }
    }

    private static let selectCreation = Statement(
        .read,
        """
        SELECT a.created_at,
               (SELECT e.details::text FROM audit_events e
                 WHERE e.application_id = $1 AND e.account = sha256(a.audit_key || uuid_send(a.uid))
                   AND e.event = 'account.created'
                 ORDER BY e.at
                 LIMIT 1)
          FROM accounts a
         WHERE a.application_id = $1 AND a.uid = $2
        """)

    /// Selects the oldest identity with the event of the same transaction, which has the same time.
    private static let selectFirstIdentity = Statement(
        .read,
        """
        SELECT e.event = 'account.created', e.details::text,
               i.id, i.provider, i.provider_uid, i.is_guest, i.email, i.email_verified, i.phone, i.phone_verified,
               i.display_name, i.created_at, i.last_used_at, i.joined_at, i.quarantined_at IS NOT NULL
          FROM accounts a
          JOIN identities i ON i.application_id = $1 AND i.uid = a.uid
          JOIN audit_events e
            ON e.application_id = $1 AND e.account = sha256(a.audit_key || uuid_send(a.uid)) AND e.at = i.created_at
           AND e.event IN ('account.created', 'identity.linked') AND e.details ->> 'provider' = i.provider
         WHERE a.application_id = $1 AND a.uid = $2
         ORDER BY i.created_at, i.id
         LIMIT 1
        """)

    package func origin(of uid: UUID, application: Application.ID) async throws -> AccountOrigin? {
        let binds: [Bind] = [.application(application), .uuid(uid)]
        let answers = try await run([(Self.selectCreation, binds), (Self.selectFirstIdentity, binds)])
        guard var row = answers[0].first else { return nil }
        return AccountOrigin(
            createdAt: try row.next(), creation: try row.next(String?.self).map { try JSONValue(jsonText: $0) },
            first: try answers[1].first.map { try $0.firstIdentity() })
    }
}

extension Row {
    fileprivate func firstIdentity() throws -> FirstIdentity {
        var row = self
        let isCreation: Bool = try row.next()
        let details = try JSONValue(jsonText: row.next())
        return FirstIdentity(try row.nextIdentity(), isCreation: isCreation, details: details)
    }
}
