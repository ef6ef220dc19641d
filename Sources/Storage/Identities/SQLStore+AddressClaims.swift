package import Accounts
package import Foundation
internal import Postgres
package import ProviderKit

/// Changes to the addresses of identities.
///
/// A decoy is a pending registration of an address that an account already owns; it makes the response the same as for
/// a free address.
extension SQLStore: AddressChangeStore {
    private static let selectAddressChange = Statement(
        .read,
        """
        SELECT p.identity_id, p.challenge_id, p.address_kind, p.address
          FROM identities i
          JOIN proofs p ON p.application_id = $1 AND p.kind = 'address-change' AND p.identity_id = i.id
         WHERE i.application_id = $1 AND i.uid = $2 AND p.expires_at > now() AND p.attempts < 5
         ORDER BY p.created_at DESC, p.challenge_id
         LIMIT 1
        """)

    package func addressChange(of uid: UUID, application: Application.ID) async throws -> PendingAddressChange? {
        guard var row = try await run(Self.selectAddressChange, [.application(application), .uuid(uid)]).first else {
            return nil
        }
        let (identity, challenge) = (try row.next(UUID.self), try row.next(UUID.self))
        return try row.nextAddress().map {
            PendingAddressChange(identity: identity, challenge: challenge, address: $0)
        }
    }

    private static let changeAddress = Statement(
        .write,
        """
        WITH old AS MATERIALIZED (
            SELECT id, uid, provider, email, email_verified, phone, phone_verified
              FROM identities WHERE application_id = $1 AND id = $2 AND uid = $3 FOR UPDATE
        ), changed AS (
            UPDATE identities i
               SET provider_uid = $4,
                   email = CASE WHEN $5 = 'email' THEN $6 ELSE i.email END,
                   email_verified = $5 = 'email' OR i.email_verified,
                   phone = CASE WHEN $5 = 'phone' THEN $6 ELSE i.phone END,
                   phone_verified = $5 = 'phone' OR i.phone_verified,
                   last_used_at = now(), joined_at = statement_timestamp()
              FROM old
             WHERE i.application_id = $1 AND i.id = old.id
            RETURNING i.id
        ), freed AS (
            DELETE FROM addresses d USING old
             WHERE d.application_id = $1 AND d.uid = old.uid AND d.kind = $5 AND d.address <> $6
               AND (d.kind = 'email' AND d.address = old.email AND old.email_verified
                    OR d.kind = 'phone' AND d.address = old.phone AND old.phone_verified)
               AND NOT EXISTS (SELECT 1 FROM identities i
                                WHERE i.application_id = $1 AND i.uid = old.uid AND i.id <> old.id
                                  AND (d.kind = 'email' AND i.email = d.address AND i.email_verified
                                       OR d.kind = 'phone' AND i.phone = d.address AND i.phone_verified))
        ), claimed AS (
            INSERT INTO addresses (application_id, kind, address, uid)
            SELECT $1, kind, address, $3 FROM changed, unnest($7::text[], $8::text[]) AS claim (kind, address)
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'identity.address-changed', sha256(a.audit_key || uuid_send(a.uid)),
                   jsonb_build_object('provider', old.provider)
              FROM old JOIN accounts a ON a.application_id = $1 AND a.uid = old.uid
        )
        SELECT id FROM changed
        """)

    package func changeAddress(
        of identity: UUID, uid: UUID, to target: ChallengeTarget, claiming addresses: [Address],
        application: Application.ID
    ) async throws {
        try await writeOrConflict(
            Self.changeAddress,
            [
                .application(application), .uuid(identity), .uuid(uid), .text(target.providerUid),
                .text(target.address.kind.rawValue), .text(target.address.value),
            ] + addresses.binds)
    }
}

extension SQLStore: AddressClaimStore {
    private static let discardRegistrations = Statement(
        .write,
        """
        WITH held AS MATERIALIZED (
            SELECT id FROM registrations
             WHERE application_id = $1 AND address = ANY ($2) AND is_decoy = $3
               FOR UPDATE NOWAIT
        )
        DELETE FROM registrations
         WHERE application_id = $1 AND address = ANY ($2) AND is_decoy = $3 AND (SELECT count(*) FROM held) > 0
        """)

    package func discardDecoys(of address: EmailAddress, application: Application.ID) async throws {
        try await write(Self.discardRegistrations, [.application(application), .texts([address.value]), .bool(true)])
    }

    /// Ends address changes to the claimed addresses, except those that the account `$3` requested itself.
    ///
    /// `$3` is null for a new account. Compared by `=`, null would make PostgreSQL drop the subquery's table from the
    /// plan, and with it the reason why Citus may send the statement to one node.
    private static let discardChanges = Statement(
        .write,
        """
        WITH held AS MATERIALIZED (
            SELECT hash FROM proofs
             WHERE application_id = $1 AND kind = 'address-change' AND address = ANY ($2)
               FOR UPDATE NOWAIT
        )
        DELETE FROM proofs p
         WHERE p.application_id = $1 AND p.kind = 'address-change' AND p.address = ANY ($2)
           AND (SELECT count(*) FROM held) > 0
           AND NOT EXISTS (SELECT 1 FROM identities i
                            WHERE i.application_id = $1 AND i.id = p.identity_id
                                AND i.uid IS NOT DISTINCT FROM $3)
        """)

    private static let evictIdentities = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT a.uid, a.audit_key FROM accounts a
             WHERE a.application_id = $1 AND a.uid IN (
                   SELECT uid FROM identities
                    WHERE application_id = $1 AND uid IS DISTINCT FROM $3
                      AND (email = ANY ($2) AND NOT email_verified OR phone = ANY ($4) AND NOT phone_verified))
               FOR NO KEY UPDATE NOWAIT
        ), evicted AS (
            UPDATE identities i
               SET email = CASE WHEN email = ANY ($2) AND NOT email_verified THEN NULL ELSE email END,
                   phone = CASE WHEN phone = ANY ($4) AND NOT phone_verified THEN NULL ELSE phone END
              FROM account a
             WHERE i.application_id = $1 AND i.uid = a.uid
               AND (email = ANY ($2) AND NOT email_verified OR phone = ANY ($4) AND NOT phone_verified)
            RETURNING i.id, i.uid, i.provider
        ), forgotten AS (
            DELETE FROM passwords p USING evicted e WHERE p.application_id = $1 AND p.identity_id = e.id
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'identity.address-evicted', sha256(a.audit_key || uuid_send(a.uid)),
                   jsonb_build_object('provider', e.provider)
              FROM evicted e JOIN account a ON a.uid = e.uid
        )
        SELECT id, uid FROM evicted
        """)

    /// Ends sessions in separate statements, which also find the sessions that were opened before the account was
    /// locked.
    package func evictUnprovenClaims(on addresses: [Address], owner: UUID?, application: Application.ID) async throws {
        let emails = addresses.compactMap(\.email?.value)
        let phones = addresses.compactMap(\.phone?.value)
        guard !addresses.isEmpty else { return }
        try await write(Self.discardRegistrations, [.application(application), .texts(emails), .bool(false)])
        try await write(Self.discardChanges, [.application(application), .texts(emails + phones), .uuid(owner)])
        let binds: [Bind] = [.application(application), .texts(emails), .uuid(owner), .texts(phones)]
        try await write(Self.evictIdentities, binds) { rows in
            for var row in rows {
                let identity: UUID = try row.next()
                try await endSessions(
                    .openedBy([identity]), of: row.next(), because: .addressProvenByAnother, application: application)
            }
        }
    }
}
