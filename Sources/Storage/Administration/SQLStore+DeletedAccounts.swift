package import Accounts
package import Administration
package import Foundation
internal import Postgres

/// Acts of administrators on accounts that are deleted.
extension SQLStore {
    private static let skipGracePeriod = Statement(
        .write, endingGracePeriod,
        """
        ), skipped AS (
            UPDATE erasures e SET purge_after = statement_timestamp()
              FROM account
             WHERE e.application_id = $1 AND e.receipt = $2 AND e.uid = account.uid
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'purge.run', sha256(audit_key || uuid_send(uid)),
                   $4::jsonb || jsonb_build_object('now', true)
              FROM account
        )
        SELECT uid FROM account
        """)

    package func skipGracePeriod(of erasure: DueErasure, by act: AdministrativeAct) async throws -> Bool {
        let binds: [Bind] = [
            .application(erasure.application), .uuid(erasure.receipt), .uuid(erasure.uid), try .act(act),
        ]
        return try await run(Self.skipGracePeriod, binds).first != nil
    }

    private static let selectErased = Statement(
        .read,
        """
        SELECT receipt
          FROM erasures
         WHERE application_id = $1 AND uid = $2 AND erased_at IS NOT NULL
         ORDER BY erased_at DESC
         LIMIT 1
        """)

    package func receipt(ofErased uid: UUID, application: Application.ID) async throws -> UUID? {
        var row = try await run(Self.selectErased, [.application(application), .uuid(uid)]).first
        return try row?.next()
    }
}
