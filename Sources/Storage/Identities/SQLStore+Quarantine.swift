package import Accounts
package import Foundation
internal import Postgres
package import ProviderKit

/// Quarantines identities and ends pending operations that another person may have added to an account before a
/// password reset.
extension SQLStore: PasswordResetStore, QuarantineStore {
    /// Deletes the pending proofs, redirect flows and registrations of the account and its sessions, and the links that
    /// it made for administrators.
    ///
    /// Ended sessions count too, because the session that replaces one may finish what it started. The calls that
    /// present such rows lock them before they lock the account, so this statement fails instead of waiting for a
    /// locked row.
    private static let endPending = Statement(
        .write,
        """
        WITH own AS MATERIALIZED (
            SELECT id FROM sessions WHERE application_id = $1 AND uid = $2
        ), flow AS MATERIALIZED (
            SELECT state_hash FROM redirect_flows
             WHERE application_id = $1 AND linking_session = ANY (ARRAY(SELECT id FROM own))
               FOR UPDATE NOWAIT
        ), flows_gone AS (
            DELETE FROM redirect_flows r USING flow WHERE r.application_id = $1 AND r.state_hash = flow.state_hash
        ), registration AS MATERIALIZED (
            SELECT provider, provider_uid FROM registrations WHERE application_id = $1 AND uid = $2 FOR UPDATE NOWAIT
        ), registrations_gone AS (
            DELETE FROM registrations r USING registration o
             WHERE r.application_id = $1 AND r.provider = o.provider AND r.provider_uid = o.provider_uid
        ), pending AS MATERIALIZED (
            SELECT kind, hash FROM proofs
             WHERE application_id = $1 AND session_id = ANY (ARRAY(SELECT id FROM own))
            UNION
            SELECT kind, hash FROM proofs
             WHERE application_id = $1 AND uid = $2 AND kind IN ('merge', 'second-proof', 'restore', 'review', 'recovery')
            UNION
            SELECT kind, hash FROM proofs WHERE application_id = $1 AND invited_by = $2
            UNION
            SELECT kind, hash FROM proofs
             WHERE application_id = $1 AND kind = 'address-change' AND identity_id = ANY (ARRAY(
                   SELECT id FROM identities WHERE application_id = $1 AND uid = $2))
            UNION
            SELECT p.kind, p.hash FROM registration o
              JOIN proofs p ON p.application_id = $1 AND p.kind = 'registration' AND p.provider = o.provider
                           AND p.provider_uid = o.provider_uid
        ), held AS MATERIALIZED (
            SELECT p.kind, p.hash FROM proofs p
             WHERE p.application_id = $1 AND (p.kind, p.hash) IN (SELECT kind, hash FROM pending)
               FOR UPDATE NOWAIT
        )
        DELETE FROM proofs p USING held WHERE p.application_id = $1 AND p.kind = held.kind AND p.hash = held.hash
        """)

    package func endPending(of uid: UUID, application: Application.ID) async throws {
        try await write(Self.endPending, [.application(application), .uuid(uid)])
    }

    /// Quarantines only identities that were linked recently and after the proven mailbox.
    ///
    /// Otherwise, an attacker could link a mailbox to another person's account, reset the password with it, and lock
    /// the owner out. Identities that joined at the same moment as the mailbox joined by a merge (`newlyLinked`).
    private static let quarantine = Statement(
        .write,
        """
        WITH mailbox AS (
            SELECT min(coalesce(joined_at, created_at)) AS since FROM identities
             WHERE application_id = $1 AND uid = $2
               AND (provider = $3 AND provider_uid = $4 OR email_verified AND email = $5)
        ), held AS (
            UPDATE identities SET quarantined_at = now()
              FROM mailbox
             WHERE application_id = $1 AND uid = $2 AND quarantined_at IS NULL AND NOT is_guest
               AND NOT (provider = $3 AND provider_uid = $4) AND NOT (email_verified AND email = $5)
               AND id <> ALL ($7)
               AND coalesce(joined_at, created_at) > now() - $6::interval
               AND (mailbox.since IS NULL OR joined_at >= mailbox.since
                    OR joined_at IS NULL AND created_at > mailbox.since)
            RETURNING uid, provider
        )
        INSERT INTO audit_events (application_id, event, account, details)
        SELECT $1, 'identity.quarantined', sha256(a.audit_key || uuid_send(a.uid)),
               jsonb_build_object('provider', held.provider)
          FROM held JOIN accounts a ON a.application_id = $1 AND a.uid = held.uid
        """)

    package func quarantine(
        identitiesOf uid: UUID, linkedWithin time: Duration, butNot subject: PasswordSubject?,
        sparing spared: Set<UUID>, provider: String, application: Application.ID
    ) async throws {
        try await write(
            Self.quarantine,
            [
                .application(application), .uuid(uid), .text(provider), .text(subject?.providerUid ?? ""),
                .text(subject?.address.value ?? ""), .interval(time), .uuids(Array(spared)),
            ])
    }

    private static let liftQuarantine = Statement(
        .write,
        """
        WITH lifted AS (
            UPDATE identities SET quarantined_at = NULL
             WHERE application_id = $1 AND uid = $2 AND id = ANY ($3) AND quarantined_at IS NOT NULL
            RETURNING uid, provider
        )
        INSERT INTO audit_events (application_id, event, account, details)
        SELECT $1, 'identity.confirmed', sha256(a.audit_key || uuid_send(a.uid)),
               jsonb_build_object('provider', lifted.provider)
          FROM lifted JOIN accounts a ON a.application_id = $1 AND a.uid = lifted.uid
        """)

    package func liftQuarantine(of identities: [UUID], uid: UUID, application: Application.ID) async throws {
        try await write(Self.liftQuarantine, [.application(application), .uuid(uid), .uuids(identities)])
    }

    private static let selectPasswordChange = Statement(
        .read, "SELECT changed_at FROM passwords WHERE application_id = $1 AND identity_id = $2")

    package func passwordChangedAt(of identity: UUID, application: Application.ID) async throws -> Date? {
        var row = try await run(Self.selectPasswordChange, [.application(application), .uuid(identity)]).first
        return try row?.next()
    }
}
