package import Accounts
package import Foundation
internal import Postgres

extension SQLStore: AdministrationStore {
    private static let selectDossier = Statement(
        .read,
        """
        SELECT a.uid, u.email, u.phone, a.display_name, u.is_anonymous, u.providers, a.metadata::text, a.created_at,
               a.updated_at, a.disabled_at IS NOT NULL, a.purge_after,
               (SELECT count(*) FROM sessions s
                 WHERE s.application_id = $1 AND s.uid = $2 AND s.ended_at IS NULL AND s.expires_at > now())
          FROM
        """, JoinedUsers.users,
        """
         WHERE a.application_id = $1 AND a.uid = $2
        """)

    package func dossier(_ uid: UUID, application: Application.ID) async throws -> AccountDossier? {
        let binds: [Bind] = [.application(application), .uuid(uid)]
        guard var row = try await run(Self.selectDossier, binds).first else { return nil }
        let user = try row.nextUser()
        let isDisabled: Bool = try row.next()
        let purgeAfter: Date? = try row.next()
        return AccountDossier(
            user: user, isDisabled: isDisabled, purgeAfter: purgeAfter,
            identities: try await identities(of: uid, application: application), liveSessions: try row.next())
    }

    private static let setDisabled = Statement(
        .write,
        """
        WITH changed AS (
            UPDATE accounts SET disabled_at = CASE WHEN $3 THEN coalesce(disabled_at, clock.now) END
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND uid = $2
            RETURNING uid, audit_key
        )
        INSERT INTO audit_events (application_id, event, account)
        SELECT $1, CASE WHEN $3 THEN 'account.disabled' ELSE 'account.enabled' END,
               sha256(audit_key || uuid_send(uid))
          FROM changed
        """)

    package func setDisabled(_ disabled: Bool, uid: UUID, application: Application.ID) async throws {
        try await write(Self.setDisabled, [.application(application), .uuid(uid), .bool(disabled)])
    }
}
