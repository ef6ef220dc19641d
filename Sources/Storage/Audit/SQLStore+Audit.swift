package import Accounts
internal import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: AuditTrail {
    /// Inserts the event, with the pseudonym of the account if one is found.
    ///
    /// If no account is found and the refusal has a source, the statement counts the refusal in `refusals` instead.
    private static let record = Statement(
        .write,
        """
        WITH subject AS (
            SELECT (SELECT sha256(a.audit_key || uuid_send(a.uid)) FROM accounts a
                     WHERE a.application_id = $1 AND a.uid = coalesce(
                           $3,
                           (SELECT i.uid FROM identities i
                             WHERE i.application_id = $1 AND i.provider = $4 AND i.provider_uid = $5),
                           (SELECT d.uid FROM unnest($6::text[], $7::text[]) AS proven (kind, address)
                              JOIN addresses d
                                ON d.application_id = $1 AND d.kind = proven.kind AND d.address = proven.address
                             LIMIT 1))) AS account
        ), tallied AS (
            INSERT INTO refusals AS r (application_id, network, route, refusal)
            SELECT $1, $10, $11, $12 FROM subject WHERE account IS NULL AND $10::bytea IS NOT NULL
            ON CONFLICT (application_id, minute, network, route, refusal) DO UPDATE SET count = r.count + 1
        )
        INSERT INTO audit_events (application_id, event, account, session_id, details)
        SELECT $1, $2, account,
               (SELECT session_pseudonym(a.audit_key, s.id)
                  FROM sessions s JOIN accounts a ON a.application_id = $1 AND a.uid = s.uid
                 WHERE s.application_id = $1 AND s.id = $8),
               $9
          FROM subject
         WHERE account IS NOT NULL OR $10::bytea IS NULL
        """)

    package func record(_ entry: AuditEntry, application: Application.ID) async throws {
        try await write(
            Self.record,
            [
                .application(application), .text(entry.event.rawValue), .uuid(entry.uid), .text(entry.provider),
                .text(entry.providerUid),
            ] + entry.addresses.binds + [
                .uuid(entry.session), .object(entry.details), .bytes(entry.source?.network),
                .text(entry.source?.route), .text(entry.refusal),
            ])
    }
}

extension AuditEntry {
    /// The value of `refusals.refusal` under which the entry is counted.
    fileprivate var refusal: String {
        if event == .clientRefused { return "\(event.rawValue) \(details["client"]?.string ?? "")" }
        return (details["rule"] ?? details["code"])?.string ?? event.rawValue
    }
}
