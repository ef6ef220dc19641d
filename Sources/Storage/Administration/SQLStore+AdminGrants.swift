package import Accounts
package import Administration
package import Foundation
internal import Postgres

extension SQLStore: AdminGrantStore {
    private static let selectGrants = Statement(
        .read,
        """
        SELECT uid, role, granted_on, created_at
          FROM admin_grants
         WHERE application_id = $1
         ORDER BY created_at, uid, granted_on
        """)

    package func grants(home: Application.ID) async throws -> [AdminGrant] {
        try await run(Self.selectGrants, [.application(home)]).decoded { row in
            let (uid, role, application): (UUID, String, Int32) = (try row.next(), try row.next(), try row.next())
            let createdAt: Date = try row.next()
            return AdminScope.Role(rawValue: role).map { role in
                AdminGrant(
                    uid: uid, role: role, application: Application.ID(grantedOn: application), createdAt: createdAt)
            }
        }.compactMap(\.self)
    }

    private static let applicationsOfGrants = Statement(
        .read,
        """
        SELECT g.granted_on
          FROM accounts a
          JOIN admin_grants g ON g.application_id = $1 AND g.uid = ANY (a.uid ||
        """, absorbed,
        """
               )
         WHERE a.application_id = $1 AND a.uid = $2
        """)

    package func applicationsOfGrants(of uid: UUID, home: Application.ID) async throws -> Set<Application.ID?> {
        let rows = try await run(Self.applicationsOfGrants, [.application(home), .uuid(uid)])
        return Set(try rows.decoded { row in Application.ID(grantedOn: try row.next()) })
    }

    /// The details name the application, or `all`; the column `account` has the administrator's pseudonym.
    ///
    /// `excluded.identities` are all that the account has now. If none of the grant's is among them, the grant would
    /// count in no session.
    private static let grantRole = Statement(
        .write,
        """
        WITH granted AS (
            INSERT INTO admin_grants AS g (application_id, uid, granted_on, role, identities)
            SELECT $1, $2, $3, $4,
                   ARRAY(SELECT i.id FROM identities i WHERE i.application_id = $1 AND i.uid = $2 ORDER BY i.id)
            ON CONFLICT (application_id, uid, granted_on)
                  DO UPDATE SET role = excluded.role,
                                identities = CASE WHEN $7 OR NOT g.identities && excluded.identities
                                                  THEN excluded.identities ELSE g.identities END
                            WHERE g.role <> excluded.role
                               OR (g.identities <> excluded.identities
                                   AND ($7 OR NOT g.identities && excluded.identities))
            RETURNING uid
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'admin.granted', sha256(a.audit_key || uuid_send(a.uid)),
                   $5::jsonb || jsonb_build_object('role', $4::text, 'on', $6::text)
              FROM accounts a
             WHERE a.application_id = $1 AND a.uid = $2 AND EXISTS (SELECT 1 FROM granted)
        )
        SELECT uid FROM granted
        """)

    package func grant(
        _ role: AdminScope.Role, to uid: UUID, on application: Application?, knowingAllIdentities: Bool,
        by act: AdministrativeAct, home: Application.ID
    ) async throws -> Bool {
        let binds: [Bind] = [
            .application(home), .uuid(uid), .int4(application?.id.rawValue ?? 0), .text(role.rawValue), try .act(act),
            .text(application?.name ?? "all"), .bool(knowingAllIdentities),
        ]
        return try await run(Self.grantRole, binds).first != nil
    }

    private static let revokeGrant = Statement(
        .write,
        """
        WITH revoked AS (
            DELETE FROM admin_grants WHERE application_id = $1 AND uid = $2 AND granted_on = $3 RETURNING uid, role
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'admin.revoked', sha256(a.audit_key || uuid_send(a.uid)),
                   $4::jsonb || jsonb_build_object('role', r.role, 'on', $5::text)
              FROM accounts a
              JOIN revoked r ON r.uid = a.uid
             WHERE a.application_id = $1 AND a.uid = $2
        )
        SELECT uid FROM revoked
        """)

    package func revokeGrant(
        of uid: UUID, on application: Application?, by act: AdministrativeAct, home: Application.ID
    ) async throws -> Bool {
        let binds: [Bind] = [
            .application(home), .uuid(uid), .int4(application?.id.rawValue ?? 0), try .act(act),
            .text(application?.name ?? "all"),
        ]
        return try await run(Self.revokeGrant, binds).first != nil
    }

    private static let lockOwners = Statement(
        .write,
        """
        SELECT uid
          FROM admin_grants
         WHERE application_id = $1 AND granted_on = 0 AND role = 'owner'
         ORDER BY uid
           FOR UPDATE
        """)

    /// Reads in a statement of its own: one that waits for a lock sees the accounts as they were before.
    private static let selectOwners = Statement(
        .read,
        """
        SELECT g.uid,
               EXISTS (SELECT 1 FROM accounts a
                        WHERE a.application_id = $1 AND a.uid = g.uid AND a.disabled_at IS NULL
                          AND a.deleted_at IS NULL AND a.absorbed_by IS NULL)
          FROM admin_grants g
         WHERE g.application_id = $1 AND g.granted_on = 0 AND g.role = 'owner'
        """)

    package func lockOwners(home: Application.ID) async throws -> Set<UUID> {
        let binds: [Bind] = [.application(home)]
        let answers = try await run([(Self.lockOwners, binds), (Self.selectOwners, binds)])
        let owners = try answers[1].decoded { row in
            (uid: try row.next(UUID.self), isLive: try row.next(Bool.self))
        }
        return Set(owners.filter(\.isLive).map(\.uid))
    }
}

extension SQLStore: RoleIdentityStore {
    /// The grants of the accounts that were merged into this one count too, because the merge can be undone.
    static let selectIdentitiesWithRoles = Statement(
        .read,
        """
        SELECT DISTINCT r.id
          FROM accounts a
          JOIN admin_grants g ON g.application_id = $1 AND g.uid = ANY (a.uid ||
        """, absorbed,
        """
               )
          JOIN identities r ON r.application_id = $1 AND r.uid = $2 AND r.id = ANY (g.identities)
         WHERE a.application_id = $1 AND a.uid = $2
           AND NOT EXISTS (SELECT 1 FROM identities i
                            WHERE i.application_id = $1 AND i.uid = $2 AND i.provider = $3 AND i.provider_uid = $4
                              AND i.id = ANY (g.identities))
        """)

    package func identitiesWithRoles(
        beyond provider: String, _ providerUid: String, of uid: UUID, application: Application.ID
    ) async throws -> Set<UUID> {
        let binds: [Bind] = [.application(application), .uuid(uid), .text(provider), .text(providerUid)]
        return Set(try await run(Self.selectIdentitiesWithRoles, binds).decoded { try $0.next(UUID.self) })
    }
}

extension Application.ID {
    /// The application that a grant is for; `nil` for all, which the database has as 0.
    init?(grantedOn number: Int32) {
        guard number != 0 else { return nil }
        self.init(rawValue: number)
    }
}

// MARK: - Export of personal data

extension SQLStore {
    /// The application is named, because its number means nothing outside.
    static let personalGrants = Statement(
        .read, family, PersonalDataSection.keyed,
        """
        SELECT uid::text || ' ' || granted_on::text AS key, role,
               CASE WHEN granted_on = 0 THEN 'all'
                    ELSE (SELECT a.name FROM applications a WHERE a.id = granted_on) END AS granted_on,
               identities, rfc3339(created_at) AS created_at
          FROM admin_grants
        """, ofFamily, PersonalDataSection.page)
}
