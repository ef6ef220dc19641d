package import Accounts
package import Foundation
internal import Postgres
package import ProviderKit

extension SQLStore: PasswordAttemptStore, PasswordRehashStore, PasswordStore {
    private static let selectPasswordState = Statement(
        .read,
        """
        SELECT i.id, i.uid, a.disabled_at IS NOT NULL, a.purge_after, p.hash, coalesce(p.must_change, false), r.hash,
               i.id IS NOT NULL OR EXISTS (
                   SELECT 1 FROM addresses d WHERE d.application_id = $1 AND d.kind = 'email' AND d.address = $4),
               coalesce(a.locale, (
                   SELECT o.locale FROM addresses d JOIN accounts o ON o.application_id = $1 AND o.uid = d.uid
                    WHERE d.application_id = $1 AND d.kind = 'email' AND d.address = $4)),
               extract(epoch FROM f.locked_until - now())::float8, i.quarantined_at IS NOT NULL
          FROM (SELECT 1) AS always
          LEFT JOIN identities i ON i.application_id = $1 AND i.provider = $2 AND i.provider_uid = $3
          LEFT JOIN accounts a ON a.application_id = $1 AND a.uid = i.uid
          LEFT JOIN passwords p ON p.application_id = $1 AND p.identity_id = i.id
          LEFT JOIN registrations r
                 ON r.application_id = $1 AND r.provider = $2 AND r.provider_uid = $3 AND r.expires_at > now()
          LEFT JOIN password_failures f
                 ON f.application_id = $1 AND f.subject = $5 AND f.locked_until > now()
        """)

    package func passwordState(
        of subject: PasswordSubject, provider: String, attempts: AttemptKey, application: Application.ID
    ) async throws -> PasswordState {
        var row = try await one(
            Self.selectPasswordState,
            [
                .application(application), .text(provider), .text(subject.providerUid), .text(subject.address.value),
                .bytes(attempts.bytes),
            ])
        let id: UUID? = try row.next()
        let uid: UUID? = try row.next()
        let status = try row.nextStatus()
        var identity: KnownIdentity?
        if let id, let uid {
            identity = KnownIdentity(id: id, uid: uid, status: status)
        }
        var state = PasswordState(
            identity: identity, hash: try row.nextHash(), mustChange: try row.next(), registration: try row.nextHash(),
            isTaken: try row.next(), ownerLanguages: try row.next(),
            lockedFor: try row.next(Double?.self).map { .seconds($0.rounded(.up)) })
        state.identity?.isQuarantined = try row.next()
        return state
    }

    private static let recordFailure = Statement(
        .write,
        """
        WITH failed AS (
            INSERT INTO password_failures AS f (application_id, subject, failures) VALUES ($1, $2, 1)
            ON CONFLICT (application_id, subject) DO UPDATE
               SET failures = least(f.failures + 1, 1000), failed_at = excluded.failed_at,
                   locked_until = CASE WHEN f.failures + 1 >= 10
                       THEN (excluded.failed_at AT TIME ZONE 'UTC'
                             + least(60 * 2 ^ least(f.failures + 1 - 10, 4), 900) * interval '1 second')
                            AT TIME ZONE 'UTC' END
             WHERE f.locked_until IS NULL OR f.locked_until <= excluded.failed_at
            RETURNING locked_until
        ), refused AS (
            SELECT locked_until,
                   (SELECT sha256(a.audit_key || uuid_send(a.uid))
                      FROM identities i JOIN accounts a ON a.application_id = $1 AND a.uid = i.uid
                     WHERE i.application_id = $1 AND i.provider = $3 AND i.provider_uid = $4) AS account
              FROM failed
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, event, account,
                   jsonb_strip_nulls(
                       jsonb_build_object('provider', $3::text, 'reason', 'password', 'dialect', $7::text))
              FROM refused, unnest(CASE WHEN locked_until IS NULL THEN ARRAY['sign-in.refused']
                                        ELSE ARRAY['sign-in.refused', 'identity.locked'] END) AS event
             WHERE account IS NOT NULL
        ), tallied AS (
            INSERT INTO refusals AS r (application_id, network, route, refusal)
            SELECT $1, $5, $6, CASE WHEN locked_until IS NULL THEN 'password' ELSE 'passwordLock' END
              FROM refused WHERE account IS NULL
            ON CONFLICT (application_id, minute, network, route, refusal) DO UPDATE SET count = r.count + 1
        )
        SELECT 1 FROM failed
        """)

    package func recordFailure(
        _ attempts: AttemptKey, of subject: PasswordSubject, provider: String, from source: RefusalSource,
        application: Application.ID
    ) async throws -> Bool {
        let binds: [Bind] = [
            .application(application), .bytes(attempts.bytes), .text(provider), .text(subject.providerUid),
            .bytes(source.network), .text(source.route), .text(source.dialect),
        ]
        return try await run(Self.recordFailure, binds).count == 1
    }

    private static let clearFailures = Statement(
        .write, "DELETE FROM password_failures WHERE application_id = $1 AND subject = $2")

    package func clearFailures(_ attempts: AttemptKey, application: Application.ID) async throws {
        try await write(Self.clearFailures, [.application(application), .bytes(attempts.bytes)])
    }

    private static let selectPasswordIdentities = Statement(
        .read,
        """
        SELECT i.id, i.provider_uid, i.email, p.hash, r.hash
          FROM identities i
          LEFT JOIN passwords p ON p.application_id = $1 AND p.identity_id = i.id
          LEFT JOIN registrations r
                 ON r.application_id = $1 AND r.provider = i.provider
                AND r.provider_uid = i.provider_uid AND r.is_decoy AND r.expires_at > now()
         WHERE i.application_id = $1 AND i.uid = $2 AND i.provider = $3 AND i.email IS NOT NULL
         ORDER BY i.provider_uid IS DISTINCT FROM $4, p.hash IS NULL, i.created_at
        """)

    package func passwordIdentities(
        of uid: UUID, provider: String, preferring providerUid: String?, application: Application.ID
    ) async throws -> [PasswordIdentity] {
        let binds: [Bind] = [.application(application), .uuid(uid), .text(provider), .text(providerUid)]
        return try await run(Self.selectPasswordIdentities, binds).compactMap { row in
            var row = row
            let id: UUID = try row.next()
            let providerUid: String = try row.next()
            guard let address = EmailAddress(try row.next()) else { return nil }
            return PasswordIdentity(
                id: id, subject: PasswordSubject(providerUid: providerUid, address: address),
                hash: try row.nextHash(), decoy: try row.nextHash())
        }
    }

    /// Replaces the password's hash if it equals the expected hash and the account `$5` has the identity.
    ///
    /// If no hash is expected, any hash is replaced and a missing one is inserted. A password that was expected but has
    /// been removed in the meantime is therefore not inserted again. Its time is that of the statement, which runs after
    /// the account was locked, so that it is later than a merge which the transaction has waited for.
    private static let setPassword = Statement(
        .write,
        """
        WITH identity AS MATERIALIZED (
            SELECT id FROM identities WHERE application_id = $1 AND id = $2 AND uid = $5
        ), replaced AS (
            UPDATE passwords
               SET hash = $3, must_change = false, changed_at = clock.now, reset_at = CASE WHEN $6 THEN clock.now END
              FROM (SELECT statement_timestamp() AS now) AS clock
             WHERE application_id = $1 AND identity_id = (SELECT id FROM identity) AND hash = coalesce($4, hash)
            RETURNING identity_id
        ), inserted AS (
            INSERT INTO passwords (application_id, identity_id, hash, changed_at, reset_at)
            SELECT $1, id, $3, clock.now, CASE WHEN $6 THEN clock.now END
              FROM identity, (SELECT statement_timestamp() AS now) AS clock
             WHERE $4::text IS NULL AND NOT EXISTS (SELECT 1 FROM replaced)
            RETURNING identity_id
        ), written AS (
            SELECT identity_id FROM replaced UNION ALL SELECT identity_id FROM inserted
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'password.set', sha256(a.audit_key || uuid_send(a.uid)),
                   jsonb_build_object('provider', i.provider)
              FROM written w
              JOIN identities i ON i.application_id = $1 AND i.id = w.identity_id
              JOIN accounts a ON a.application_id = $1 AND a.uid = i.uid
        )
        SELECT identity_id FROM written
        """)

    package func setPassword(
        _ hash: PasswordHash, of identity: UUID, ownedBy uid: UUID, replacing expected: PasswordHash?,
        provingMailbox: Bool, application: Application.ID
    ) async throws {
        try await writeOrConflict(
            Self.setPassword,
            [
                .application(application), .uuid(identity), .text(hash.phc), .text(expected?.phc), .uuid(uid),
                .bool(provingMailbox),
            ])
    }

    private static let rehash = Statement(
        .write,
        """
        UPDATE passwords SET hash = $4
         WHERE application_id = $1 AND identity_id = $2 AND hash = $3
           AND NOT EXISTS (
               SELECT 1 FROM identities i
                 JOIN registrations r ON r.application_id = $1 AND r.provider = i.provider
                      AND r.provider_uid = i.provider_uid AND r.expires_at > now()
                WHERE i.application_id = $1 AND i.id = $2)
        """)

    package func rehash(
        _ hash: PasswordHash, to renewed: PasswordHash, of identity: UUID, application: Application.ID
    ) async throws {
        let rows = try await run(
            Self.rehash, [.application(application), .uuid(identity), .text(hash.phc), .text(renewed.phc)])
        guard rows.affected == 1 else { throw StoreConflict() }
    }
}

extension Row {
    fileprivate mutating func nextHash() throws -> PasswordHash? {
        try next(String?.self).map(PasswordHash.init(phc:))
    }
}
