package import Accounts
internal import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore {
    /// Of an account that there isn't, nobody's.
    private static let record = Statement(
        .write,
        """
        INSERT INTO audit_events (application_id, event, account, session_id, details)
        SELECT $1, $2,
               (SELECT sha256(a.audit_key || uuid_send(a.uid)) FROM accounts a
                 WHERE a.application_id = $1 AND a.uid = coalesce(
                       $3,
                       (SELECT i.uid FROM identities i
                         WHERE i.application_id = $1 AND i.provider = $4 AND i.provider_uid = $5),
                       (SELECT d.uid FROM unnest($6::text[], $7::text[]) AS proven (kind, address)
                          JOIN addresses d
                            ON d.application_id = $1 AND d.kind = proven.kind AND d.address = proven.address
                         LIMIT 1))),
               (SELECT session_pseudonym(a.audit_key, s.id)
                  FROM sessions s JOIN accounts a ON a.application_id = $1 AND a.uid = s.uid
                 WHERE s.application_id = $1 AND s.id = $8),
               $9
        """)

    package func record(_ entry: AuditEntry, application: Int32) async throws {
        _ = try await run(
            Self.record,
            [
                .int4(application), .text(entry.event.rawValue), .uuid(entry.uid), .text(entry.provider),
                .text(entry.providerUid),
            ] + entry.addresses.binds + [
                .uuid(entry.session), .json(try JSONValue.object(entry.details).jsonText()),
            ])
    }
}
