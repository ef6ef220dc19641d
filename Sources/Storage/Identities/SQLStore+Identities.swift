package import Accounts
package import Foundation
package import Postgres
package import ProviderKit

extension SQLStore: IdentityRemovalStore, IdentityStore, MailForwardingStore, ProviderTokenStore, SingleUseStore {
    private static let selectKnownIdentity = Statement(
        .read,
        """
        SELECT i.id, i.uid, a.disabled_at IS NOT NULL, a.purge_after, i.quarantined_at IS NOT NULL
          FROM identities i
          JOIN accounts a ON a.application_id = $1 AND a.uid = i.uid
         WHERE i.application_id = $1 AND i.provider = $2 AND i.provider_uid = $3
        """)

    package func knownIdentity(
        _ provider: String, _ providerUid: String, application: Application.ID
    ) async throws -> KnownIdentity? {
        let binds: [Bind] = [.application(application), .text(provider), .text(providerUid)]
        guard var row = try await run(Self.selectKnownIdentity, binds).first else { return nil }
        return KnownIdentity(
            id: try row.next(), uid: try row.next(), status: try row.nextStatus(), isQuarantined: try row.next())
    }

    /// Selects the identities of the accounts `$2`, the oldest first; `is_current` says whether the identity opened the
    /// session `$3`.
    private static let selectIdentities = Statement(
        .read,
        """
        SELECT id, provider, provider_uid, is_guest, email, email_verified, phone, phone_verified, display_name,
               created_at, last_used_at, joined_at, quarantined_at IS NOT NULL,
               coalesce(id = (SELECT identity_id FROM sessions WHERE application_id = $1 AND id = $3), false)
               AS is_current, uid
          FROM identities
         WHERE application_id = $1 AND uid = ANY ($2)
         ORDER BY created_at, id
        """)

    package func identities(of uid: UUID, application: Application.ID) async throws -> [Identity] {
        try await run(Self.selectIdentities, [.application(application), .uuids([uid]), .uuid(nil)])
            .decoded { try $0.nextIdentity() }
    }

    package func identities(
        ofEach uids: [UUID], application: Application.ID
    ) async throws -> [UUID: [Identity]] {
        let rows = try await run(Self.selectIdentities, [.application(application), .uuids(uids), .uuid(nil)])
        let identities = try rows.decoded { row in
            let identity = try row.nextIdentity()
            _ = try row.next(Bool.self)
            return (uid: try row.next(UUID.self), identity: identity)
        }
        return Dictionary(grouping: identities, by: \.uid).mapValues { $0.map(\.identity) }
    }

    package func identities(of principal: Principal) async throws -> [ListedIdentity] {
        try await run(Self.selectIdentities, Self.binds(principal)).listedIdentities()
    }

    package func lockIdentities(of principal: Principal) async throws -> LockedIdentities? {
        let account: [Bind] = [.application(principal.application.id), .uuid(principal.uid)]
        let session: [Bind] = [
            .application(principal.application.id), .uuid(principal.sessionID), .uuid(principal.uid),
        ]
        let answers = try await run([
            (Self.lockAccount, account), (Self.lockSession, session), (Self.selectIdentities, Self.binds(principal)),
            (Self.selectContact, account),
            (Self.selectIdentitiesWithRoles, account + [.text(principal.provider), .text(principal.providerUid)]),
        ])
        guard try answers[0].lockedStatus() == .live, !answers[1].isEmpty else { return nil }
        return LockedIdentities(
            identities: try answers[2].listedIdentities(), contact: try answers[3].contact(),
            beyondReach: Set(try answers[4].decoded { try $0.next(UUID.self) }))
    }

    private static func binds(_ principal: Principal) -> [Bind] {
        [.application(principal.application.id), .uuids([principal.uid]), .uuid(principal.sessionID)]
    }

    /// Uses an advisory lock without waiting: if this call waited for another transaction's row, the two could
    /// deadlock, because that transaction may wait for the account that is locked here.
    private static let spend = Statement(
        .write,
        """
        WITH turn AS MATERIALIZED (
            SELECT pg_try_advisory_xact_lock(hashtextextended('used proof ' || $1::int || $2::text || ' ' || $3::text, 0)) AS is_mine
        ), spent AS (
            INSERT INTO used_proofs (application_id, provider, hash, expires_at)
            SELECT $1::int, $2::text, sha256(convert_to($3::text, 'UTF8')), $4 FROM turn WHERE is_mine
            ON CONFLICT DO NOTHING
            RETURNING 1
        )
        SELECT is_mine, EXISTS (SELECT 1 FROM spent) FROM turn
        """)

    package func spend(_ proof: SingleUse, provider: String, application: Application.ID) async throws -> Bool {
        try Self.isFirst(await run(Self.spend, Self.binds(proof, provider, application)))
    }

    package func spendOrRefuse(_ proof: SingleUse, provider: String, application: Application.ID) async throws {
        try await write(Self.spend, Self.binds(proof, provider, application)) { rows in
            guard try Self.isFirst(rows) else { throw ProviderError.refused }
        }
    }

    private static func binds(_ proof: SingleUse, _ provider: String, _ application: Application.ID) -> [Bind] {
        [.application(application), .text(provider), .text(proof.id), .timestamp(proof.expires)]
    }

    private static func isFirst(_ rows: Rows) throws -> Bool {
        var row = try rows.firstOrConflict()
        guard try row.next(Bool.self) else { throw StoreConflict(isTransient: true) }
        return try row.next()
    }

    private static let keepTokens = Statement(
        .write,
        """
        INSERT INTO provider_tokens (application_id, identity_id, sealed) VALUES ($1, $2, $3)
        ON CONFLICT (application_id, identity_id) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at
        """)

    package func keep(_ tokens: ProviderTokens, of identity: UUID, application: Application.ID) async throws {
        let sealed = try sealing.seal(json: tokens, at: .tokens(application: application, identity: identity))
        try await write(Self.keepTokens, [.application(application), .uuid(identity), .bytes(sealed)])
    }

    private static let dropTokens = Statement(
        .write, "DELETE FROM provider_tokens WHERE application_id = $1 AND identity_id = $2")

    package func dropTokens(of identity: UUID, application: Application.ID) async throws {
        try await write(Self.dropTokens, [.application(application), .uuid(identity)])
    }

    /// Queues the identity's tokens for revocation and deletes them.
    ///
    /// The sealed value is moved unchanged, since it is bound to the identity's id and not to the row of a table.
    package static let revokeTokens = Statement(
        .write,
        """
        WITH dropped AS (
            DELETE FROM provider_tokens WHERE application_id = $1 AND identity_id = $2 RETURNING sealed
        ), handed AS (
            INSERT INTO token_revocations (application_id, identity_id, provider, uid, sealed)
            SELECT $1, i.id, i.provider, i.uid, dropped.sealed
              FROM dropped JOIN identities i ON i.application_id = $1 AND i.id = $2
            RETURNING id
        )
        SELECT id FROM handed
        """)

    package func revokeTokens(of identity: UUID, application: Application.ID) async throws {
        try await write(Self.revokeTokens, [.application(application), .uuid(identity)]) { handed in
            if !handed.isEmpty { onChange(.queued) }
        }
    }

    private static let setForwarding = Statement(
        .write,
        """
        UPDATE addresses SET is_silent = NOT $4
         WHERE application_id = $1 AND uid = $2 AND kind = 'email' AND address = $3
        """)

    package func setForwarding(
        _ isOn: Bool, of address: EmailAddress, uid: UUID, application: Application.ID
    ) async throws {
        try await write(
            Self.setForwarding, [.application(application), .uuid(uid), .text(address.value), .bool(isOn)])
    }

    package static let removeIdentity = Statement(
        .write,
        """
        WITH removed AS (
            DELETE FROM identities WHERE application_id = $1 AND id = $2 AND uid = $3
            RETURNING provider, uid, email, email_verified, phone, phone_verified
        ), freed AS (
            DELETE FROM addresses d USING removed r
             WHERE d.application_id = $1 AND d.uid = r.uid
               AND (d.kind = 'email' AND d.address = r.email AND r.email_verified
                    OR d.kind = 'phone' AND d.address = r.phone AND r.phone_verified)
               AND NOT EXISTS (SELECT 1 FROM identities i
                                WHERE i.application_id = $1 AND i.uid = r.uid AND i.id <> $2
                                  AND (d.kind = 'email' AND i.email = d.address AND i.email_verified
                                       OR d.kind = 'phone' AND i.phone = d.address AND i.phone_verified))
        )
        INSERT INTO audit_events (application_id, event, account, details)
        SELECT $1, 'identity.unlinked', sha256(a.audit_key || uuid_send(a.uid)),
               $4::jsonb || jsonb_build_object('provider', r.provider)
          FROM removed r JOIN accounts a ON a.application_id = $1 AND a.uid = r.uid
        """)

    package func removeIdentity(
        _ identity: UUID, of uid: UUID, details: [String: JSONValue], application: Application.ID
    ) async throws {
        try await write(
            Self.removeIdentity, [.application(application), .uuid(identity), .uuid(uid), .object(details)])
    }
}

extension SealingPlace {
    static func tokens(application: Application.ID, identity: UUID) -> SealingPlace {
        SealingPlace(application: application, table: "provider_tokens", column: "sealed", row: identity.text)
    }
}

extension Rows {
    fileprivate func listedIdentities() throws -> [ListedIdentity] {
        try decoded { row in ListedIdentity(identity: try row.nextIdentity(), isCurrent: try row.next()) }
    }
}

extension Row {
    /// The columns of an identity, starting with `id`.
    mutating func nextIdentity() throws -> Identity {
        Identity(
            id: try next(), provider: try next(), providerUid: try next(), isGuest: try next(),
            email: try next(String?.self).flatMap { EmailAddress($0) }, emailVerified: try next(),
            phone: try next(String?.self).flatMap { PhoneNumber($0) }, phoneVerified: try next(),
            displayName: try next(), createdAt: try next(), lastUsedAt: try next(), linkedAt: try next(),
            isQuarantined: try next())
    }
}
