package import Accounts
package import Foundation
internal import Postgres
package import ProviderKit

extension SQLStore: InvitationStore {
    private static let selectTaken = Statement(
        .read,
        """
        SELECT EXISTS (SELECT 1 FROM identities
                        WHERE application_id = $1 AND provider = $2 AND provider_uid = $3)
            OR EXISTS (SELECT 1 FROM addresses WHERE application_id = $1 AND kind = $4 AND address = $5)
        """)

    package func isTaken(
        _ target: ChallengeTarget, provider: String, application: Application.ID
    ) async throws -> Bool {
        var row = try await one(
            Self.selectTaken,
            [
                .application(application), .text(provider), .text(target.providerUid),
                .text(target.address.kind.rawValue), .text(target.address.value),
            ])
        return try row.next()
    }

    /// Waits, because the transaction holds no other lock yet.
    private static let lockInvitation = Statement(
        .write,
        """
        SELECT pg_advisory_xact_lock(
                   hashtextextended('invitation ' || $1::int || ' ' || $2::text || ' ' || $3::text, 0))
        """)

    package func lockInvitation(
        to target: ChallengeTarget, provider: String, application: Application.ID
    ) async throws {
        try await write(
            Self.lockInvitation, [.application(application), .text(provider), .text(target.providerUid)])
    }

    private static let setInvited = Statement(
        .write,
        """
        WITH account AS (
            UPDATE accounts SET roles = $3, claims = $4
             WHERE application_id = $1 AND uid = $2
            RETURNING uid, audit_key
        )
        INSERT INTO audit_events (application_id, event, account, details)
        SELECT $1, 'invitation.used', sha256(audit_key || uuid_send(uid)),
               jsonb_strip_nulls(jsonb_build_object('roles', nullif($5::text[], '{}')))
          FROM account
        """)

    package func setInvited(
        _ access: AccountAccess, naming listed: [String], of uid: UUID, application: Application.ID
    ) async throws {
        try await write(
            Self.setInvited,
            [
                .application(application), .uuid(uid), .texts(access.roles), .object(access.claims),
                .texts(access.roles.filter(listed.contains)),
            ])
    }
}

extension SQLStore: RecoveryStore {
    private static let selectRecoveryAddress = Statement(
        .read,
        """
        SELECT d.kind, d.address
          FROM addresses d
         WHERE d.application_id = $1 AND d.uid = $2 AND d.kind = $3 AND NOT d.is_silent
           AND (d.kind = 'email' OR d.verified_at >= now() - $4::interval OR EXISTS (
                   SELECT 1 FROM identities p
                    WHERE p.application_id = $1 AND p.uid = d.uid AND p.phone = d.address AND p.phone_verified
                      AND greatest(p.last_used_at, p.created_at) >= now() - $4::interval))
           AND NOT coalesce((
                   SELECT bool_and(q.quarantined_at IS NOT NULL) FROM identities q
                    WHERE q.application_id = $1 AND q.uid = d.uid
                      AND (d.kind = 'email' AND q.email = d.address AND q.email_verified
                           OR d.kind = 'phone' AND q.phone = d.address AND q.phone_verified)), false)
         ORDER BY d.verified_at, d.address
         LIMIT 1
        """)

    package func recoveryAddress(
        of uid: UUID, _ kind: Address.Kind, usedWithin limit: Duration, application: Application.ID
    ) async throws -> Address? {
        let binds: [Bind] = [.application(application), .uuid(uid), .text(kind.rawValue), .interval(limit)]
        var row = try await run(Self.selectRecoveryAddress, binds).first
        return try row?.nextAddress()
    }

    private static let removePasswords = Statement(
        .write,
        """
        WITH removed AS (
            DELETE FROM passwords
             WHERE application_id = $1
               AND identity_id IN (SELECT id FROM identities WHERE application_id = $1 AND uid = $2)
            RETURNING identity_id
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account)
            SELECT $1, 'password.removed', sha256(audit_key || uuid_send(uid))
              FROM accounts
             WHERE application_id = $1 AND uid = $2 AND EXISTS (SELECT 1 FROM removed)
        )
        SELECT 1 FROM removed
        """)

    package func removePasswords(of uid: UUID, application: Application.ID) async throws -> Bool {
        try await !run(Self.removePasswords, [.application(application), .uuid(uid)]).isEmpty
    }
}
