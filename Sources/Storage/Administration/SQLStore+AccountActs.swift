package import Accounts
package import Administration
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: AccountActStore {
    private static let selectDossier = Statement(
        .read,
        """
        SELECT a.uid, u.email, u.phone, a.display_name, u.is_anonymous, u.providers, a.metadata::text, a.created_at,
               a.updated_at, a.roles, a.claims::text, a.disabled_at IS NOT NULL, a.purge_after,
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

    /// Changes a locked account, whose present values the statement therefore sees.
    private static let setAccess = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid, audit_key, roles, claims, coalesce($3::text[], roles) AS new_roles,
                   coalesce($4::jsonb, claims) AS new_claims
              FROM accounts
             WHERE application_id = $1 AND uid = $2
        ), difference AS MATERIALIZED (
            SELECT uid, audit_key, new_roles, new_claims,
                   array_remove(
                       ARRAY[CASE WHEN new_roles <> roles THEN 'roles' END,
                             CASE WHEN new_claims <> claims THEN 'claims' END],
                       NULL) AS changed,
                   ARRAY(SELECT name FROM unnest(new_roles) AS name
                          WHERE name <> ALL (roles) AND name = ANY ($6::text[]) ORDER BY name) AS added,
                   ARRAY(SELECT name FROM unnest(roles) AS name
                          WHERE name <> ALL (new_roles) AND name = ANY ($6::text[]) ORDER BY name) AS removed
              FROM account
        ), written AS (
            UPDATE accounts a SET roles = d.new_roles, claims = d.new_claims, updated_at = now()
              FROM difference d
             WHERE a.application_id = $1 AND a.uid = $2 AND cardinality(d.changed) > 0
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'account.access-changed', sha256(audit_key || uuid_send(uid)),
                   $5::jsonb
                   || jsonb_strip_nulls(
                       jsonb_build_object(
                           'changed', changed, 'added', nullif(added, '{}'), 'removed', nullif(removed, '{}')))
              FROM difference
             WHERE cardinality(changed) > 0
        )
        SELECT new_roles, new_claims::text, changed FROM difference
        """)

    package func setAccess(
        _ change: AccessChange, naming listed: [String], of uid: UUID, by act: AdministrativeAct,
        application: Application.ID
    ) async throws -> ChangedAccess {
        let claims = try change.claims.map { try JSONValue.object($0).jsonText() }
        var row = try await one(
            Self.setAccess,
            [
                .application(application), .uuid(uid), .texts(change.roles), .json(claims),
                .json(try JSONValue.object(act.details).jsonText()), .texts(listed),
            ])
        return ChangedAccess(access: try row.nextAccess(), changed: try row.next())
    }
}
