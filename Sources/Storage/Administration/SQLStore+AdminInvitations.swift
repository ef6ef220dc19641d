package import Accounts
package import Administration
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: AdminInvitationStore {
    private static let insertAdminInvitation = Statement(
        .write,
        """
        WITH made AS (
            INSERT INTO proofs
                   (application_id, kind, hash, provider, provider_uid, address, methods, expires_at, admin_role,
                    granted_on, invited_by)
            VALUES ($1, 'admin-invitation', $2, 'console', 'administrator', $3, '{}', now() + $4::interval, $5, $6, $7)
            RETURNING expires_at
        ), audited AS (
            INSERT INTO audit_events (application_id, event, details)
            SELECT $1, 'admin.invited',
                   $8::jsonb || jsonb_build_object('role', $5::text, 'on', $9::text, 'addressed', $3::text IS NOT NULL)
              FROM made
        )
        SELECT expires_at FROM made
        """)

    package func insert(
        _ invitation: NewAdminInvitation, hash: [UInt8], by act: AdministrativeAct, home: Application.ID
    ) async throws -> Date {
        var row = try await one(
            Self.insertAdminInvitation,
            [
                .application(home), .bytes(hash), .text(invitation.address?.value), .interval(invitation.lifetime),
                .text(invitation.role.rawValue), .int4(invitation.application?.id.rawValue ?? 0),
                .uuid(invitation.inviter), try .act(act), .text(invitation.application?.name ?? "all"),
            ])
        return try row.next()
    }

    /// That the administrator who made the invitation `p` may still grant its role; `$3` has the roles that may.
    private static let countsStill: StaticString = """
        (p.invited_by IS NULL OR EXISTS (
            SELECT 1
              FROM admin_grants g
              JOIN accounts a ON a.application_id = $1 AND a.uid = g.uid
             WHERE g.application_id = $1 AND g.uid = p.invited_by AND g.granted_on IN (0, p.granted_on)
               AND g.role = ANY ($3)
               AND a.disabled_at IS NULL AND a.deleted_at IS NULL AND a.absorbed_by IS NULL))
        """

    private static let selectAdminInvitation = Statement(
        .read,
        """
        SELECT p.admin_role, p.granted_on, p.address, d.uid
          FROM proofs p
          LEFT JOIN addresses d ON d.application_id = $1 AND d.kind = 'email' AND d.address = p.address
         WHERE p.application_id = $1 AND p.kind = 'admin-invitation' AND p.hash = $2 AND p.expires_at > now()
           AND
        """, countsStill)

    package func adminInvitation(_ hash: [UInt8], home: Application.ID) async throws -> AdminInvitation? {
        try await run(Self.selectAdminInvitation, Self.binds(hash, home)).first?.adminInvitation()
    }

    private static let useAdminInvitation = Statement(
        .write,
        """
        DELETE FROM proofs p
         WHERE p.application_id = $1 AND p.kind = 'admin-invitation' AND p.hash = $2 AND p.expires_at > now()
           AND (p.address IS NULL OR EXISTS (
                   SELECT 1 FROM addresses d
                    WHERE d.application_id = $1 AND d.kind = 'email' AND d.address = p.address AND d.uid = $4))
           AND
        """, countsStill, "RETURNING p.admin_role, p.granted_on, p.address, $4::uuid AS owner")

    package func useAdminInvitation(
        _ hash: [UInt8], by uid: UUID, home: Application.ID
    ) async throws -> AdminInvitation? {
        try await run(Self.useAdminInvitation, Self.binds(hash, home) + [.uuid(uid)]).first?.adminInvitation()
    }

    private static func binds(_ hash: [UInt8], _ home: Application.ID) -> [Bind] {
        let granting = AdminScope.Role.allCases.filter { $0.scopes.contains(.writeAdmins) }
        return [.application(home), .bytes(hash), .texts(granting.map(\.rawValue))]
    }
}

extension Row {
    /// `nil` for a role of a later version.
    fileprivate func adminInvitation() throws -> AdminInvitation? {
        var row = self
        let (role, application): (String, Int32) = (try row.next(), try row.next())
        let (address, owner): (String?, UUID?) = (try row.next(), try row.next())
        return AdminScope.Role(rawValue: role).map { role in
            AdminInvitation(
                role: role, application: Application.ID(grantedOn: application),
                address: address.flatMap { EmailAddress($0) }, owner: owner)
        }
    }
}
