package import Accounts
package import Administration
package import Foundation
internal import Postgres
package import ProviderKit

extension SQLStore: AccountActStore {
    private static let selectDossier = Statement(
        .read, JoinedUsers.userColumns, JoinedUsers.accessColumns,
        """
             , a.disabled_at IS NOT NULL, a.purge_after,
               (SELECT count(*) FROM sessions s
                 WHERE s.application_id = $1 AND s.uid = $2 AND s.ended_at IS NULL AND now() <
        """, endOfSession,
        """
               )
          FROM
        """, JoinedUsers.users, "WHERE a.application_id = $1 AND a.uid = $2")

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

    private static let selectSummary = Statement(
        .read,
        """
        SELECT a.roles, a.claims::text, a.purge_after, e.receipt
          FROM accounts a
          LEFT JOIN erasures e
            ON e.application_id = $1 AND e.uid = a.uid AND e.restored_at IS NULL AND e.erased_at IS NULL
         WHERE a.application_id = $1 AND a.uid = $2
        """)

    package func summary(
        of uid: UUID, application: Application.ID
    ) async throws -> (access: AccountAccess, deletion: ScheduledDeletion?)? {
        let binds: [Bind] = [.application(application), .uuid(uid)]
        guard var row = try await run(Self.selectSummary, binds).first else { return nil }
        let access = try row.nextAccess()
        let (purgeAfter, receipt): (Date?, UUID?) = (try row.next(), try row.next())
        guard let purgeAfter, let receipt else { return (access, nil) }
        return (access, ScheduledDeletion(receipt: receipt, purgeAfter: purgeAfter))
    }

    private static let setDisabled = Statement(
        .write,
        """
        WITH changed AS (
            UPDATE accounts a
               SET disabled_at = CASE WHEN $3 THEN coalesce(a.disabled_at, clock.now) END, disabled_until = $4,
                   updated_at = clock.now
              FROM (SELECT now() AS now) AS clock
             WHERE a.application_id = $1 AND a.uid = $2
               AND ((a.disabled_at IS NOT NULL) <> $3 OR a.disabled_until IS DISTINCT FROM $4)
            RETURNING a.uid, a.audit_key
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, CASE WHEN $3 THEN 'account.disabled' ELSE 'account.enabled' END,
                   sha256(audit_key || uuid_send(uid)),
                   $5::jsonb || jsonb_strip_nulls(jsonb_build_object('until', rfc3339($4)))
              FROM changed
        )
        SELECT uid FROM changed
        """)

    package func setDisabled(
        _ disabled: Bool, until: Date?, uid: UUID, by act: AdministrativeAct, application: Application.ID
    ) async throws -> Bool {
        let binds: [Bind] = [
            .application(application), .uuid(uid), .bool(disabled), .timestamp(until), try .act(act),
        ]
        return try await run(Self.setDisabled, binds).first != nil
    }

    private static let requireChange = Statement(
        .write,
        """
        WITH held AS MATERIALIZED (
            SELECT p.identity_id
              FROM identities i
              JOIN passwords p ON p.application_id = $1 AND p.identity_id = i.id
             WHERE i.application_id = $1 AND i.uid = $2
        ), changed AS (
            UPDATE passwords SET must_change = true
             WHERE application_id = $1 AND identity_id = ANY (ARRAY(SELECT identity_id FROM held)) AND NOT must_change
            RETURNING identity_id
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'password.change-required', sha256(audit_key || uuid_send(uid)), $3::jsonb
              FROM accounts
             WHERE application_id = $1 AND uid = $2 AND EXISTS (SELECT 1 FROM changed)
        )
        SELECT (SELECT count(*) FROM held) > 0, (SELECT count(*) FROM changed) > 0
        """)

    package func requirePasswordChange(
        uid: UUID, by act: AdministrativeAct, application: Application.ID
    ) async throws -> Bool? {
        var row = try await one(Self.requireChange, [.application(application), .uuid(uid), try .act(act)])
        let (hasPassword, isNew): (Bool, Bool) = (try row.next(), try row.next())
        return hasPassword ? isNew : nil
    }

    /// Changes a locked account, whose present values the statement therefore sees.
    private static let changeProfile = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid, audit_key, display_name, metadata, coalesce($3::text, display_name) AS new_name,
                   coalesce($4::jsonb, metadata) AS new_metadata
              FROM accounts
             WHERE application_id = $1 AND uid = $2
        ), difference AS MATERIALIZED (
            SELECT uid, audit_key, new_name, new_metadata,
                   array_remove(
                       ARRAY[CASE WHEN new_name IS DISTINCT FROM display_name THEN 'displayName' END,
                             CASE WHEN new_metadata <> metadata THEN 'metadata' END],
                       NULL) AS changed
              FROM account
        ), written AS (
            UPDATE accounts a SET display_name = d.new_name, metadata = d.new_metadata, updated_at = now()
              FROM difference d
             WHERE a.application_id = $1 AND a.uid = $2 AND cardinality(d.changed) > 0
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'account.profile-changed', sha256(audit_key || uuid_send(uid)),
                   $5::jsonb || jsonb_build_object('changed', changed)
              FROM difference
             WHERE cardinality(changed) > 0
        )
        SELECT cardinality(changed) > 0 FROM difference
        """)

    package func updateProfile(
        of uid: UUID, displayName: String?, metadata: JSONValue?, by act: AdministrativeAct,
        application: Application.ID
    ) async throws -> Bool {
        var row = try await one(
            Self.changeProfile,
            [
                .application(application), .uuid(uid), .text(displayName), .json(try metadata?.jsonText()),
                try .act(act),
            ])
        return try row.next()
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
                try .act(act), .texts(listed),
            ])
        return ChangedAccess(access: try row.nextAccess(), changed: try row.next())
    }

    package func endSessions(
        _ sessions: [UUID]?, of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws -> Int {
        guard let sessions else {
            return try await end(.all, of: uid, because: reason, application: application)
        }
        var count = 0
        for session in Set(sessions) {
            count += try await end(.one(session), of: uid, because: reason, application: application)
        }
        return count
    }
}
