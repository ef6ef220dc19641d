package import Accounts
package import Foundation
internal import Postgres

/// Undoes a merge of two accounts.
extension SQLStore: MergeUndoStore {
    /// Whether the owner of either account may know the password `p` of the identity `i`: it was set since the merge `u`,
    /// but neither by a reset nor before a later merge brought it.
    private static let isShared: StaticString = """
        p.changed_at > u.merged_at AND p.changed_at IS DISTINCT FROM p.reset_at
        AND NOT EXISTS (SELECT 1 FROM merges n
                         WHERE n.application_id = $1 AND n.survivor = u.survivor AND n.undone_at IS NULL
                           AND i.id = ANY (n.identities) AND p.changed_at <= n.merged_at)
        """

    /// Returns moved data to the absorbed account if the data is unchanged since the merge.
    ///
    /// `$4` are the merge's identities as `mergeColumns` selects them, which leave the survivor if they are still there.
    /// An address moves with an identity that shows it, even if the identity gained the address after the merge. It
    /// stays if only identities that stay show it. A survivor that was a guest becomes one again, unless it has an
    /// identity that stays; then its guest identity is deleted.
    ///
    /// Passwords that were set while the accounts were one are deleted on both sides, because the owner of the other
    /// account may know them. Those of resets stay, because their owner reads the mailbox; of the identities that leave,
    /// only if neither they nor their address came after the merge. A later merge's stay as they were then.
    private static let undoMerge = Statement(
        .write,
        """
        WITH undone AS (
            UPDATE merges SET undone_at = now()
             WHERE application_id = $1 AND id = $2 AND undone_at IS NULL AND (undo_until > now() OR $3)
            RETURNING survivor, absorbed, merged_at, identities, parked, address_kinds, addresses, filled
        ), guest AS MATERIALIZED (
            SELECT parked[1] AS id FROM undone WHERE cardinality(parked) > 0
        ), leaving AS MATERIALIZED (
            SELECT i.id, i.email, i.email_verified, i.phone, i.phone_verified, i.joined_at, u.absorbed
              FROM undone u JOIN identities i ON i.application_id = $1 AND i.uid = u.survivor
               AND i.id = ANY ($4)
        ), staying AS MATERIALIZED (
            SELECT i.id, i.email, i.email_verified, i.phone, i.phone_verified
              FROM undone u JOIN identities i ON i.application_id = $1 AND i.uid = u.survivor
               AND NOT i.id = ANY ($4)
        ), shown AS MATERIALIZED (
            SELECT d.kind, d.address,
                   EXISTS (SELECT 1 FROM unnest(u.address_kinds, u.addresses) AS recorded (kind, address)
                            WHERE recorded.kind = d.kind AND recorded.address = d.address) AS came_along,
                   EXISTS (SELECT 1 FROM leaving i
                            WHERE d.kind = 'email' AND i.email = d.address AND i.email_verified
                               OR d.kind = 'phone' AND i.phone = d.address AND i.phone_verified) AS leaves,
                   EXISTS (SELECT 1 FROM staying i
                            WHERE d.kind = 'email' AND i.email = d.address AND i.email_verified
                               OR d.kind = 'phone' AND i.phone = d.address AND i.phone_verified) AS stays
              FROM undone u JOIN addresses d ON d.application_id = $1 AND d.uid = u.survivor
        ), owned AS (
            UPDATE addresses d SET uid = u.absorbed
              FROM undone u, shown s
             WHERE d.application_id = $1 AND d.uid = u.survivor AND d.kind = s.kind AND d.address = s.address
               AND (s.leaves AND NOT s.stays OR s.came_along AND (s.leaves OR NOT s.stays))
        ), moved AS (
            UPDATE identities i SET uid = l.absorbed FROM leaving l WHERE i.application_id = $1 AND i.id = l.id
            RETURNING i.id
        ), forgotten AS (
            DELETE FROM passwords p
             USING undone u,
                   (SELECT id, joined_at, true AS leaves FROM leaving
                    UNION ALL SELECT id, NULL, false FROM staying) AS i
             WHERE p.application_id = $1 AND p.identity_id = i.id
               AND (i.leaves AND (NOT i.id = ANY (u.identities) OR i.joined_at > u.merged_at)
                    OR
        """, isShared,
        """
                   )
        ), unparked AS (
            UPDATE identities i SET uid = u.survivor
              FROM undone u
             WHERE i.application_id = $1 AND i.uid = u.absorbed AND i.id = ANY (u.parked)
               AND NOT EXISTS (SELECT 1 FROM staying)
            RETURNING i.id
        ), dropped AS (
            DELETE FROM identities i USING undone u
             WHERE i.application_id = $1 AND i.uid = u.absorbed AND i.id = ANY (u.parked)
               AND EXISTS (SELECT 1 FROM staying)
            RETURNING i.id
        ), repointed AS (
            UPDATE sessions s SET identity_id = guest.id
              FROM undone u, guest
             WHERE s.application_id = $1 AND s.uid = u.survivor
               AND NOT EXISTS (SELECT 1 FROM staying)
               AND s.identity_id = ANY ($4) AND s.created_at <= u.merged_at AND s.ended_at IS NULL
        ), survivor AS (
            UPDATE accounts a
               SET display_name = CASE WHEN a.display_name = u.filled ->> 'displayName' THEN NULL ELSE a.display_name END,
                   metadata = a.metadata - ARRAY (
                       SELECT f.key FROM jsonb_each(u.filled -> 'metadata') f WHERE a.metadata -> f.key = f.value),
                   updated_at = now()
              FROM undone u
             WHERE a.application_id = $1 AND a.uid = u.survivor
            RETURNING a.uid, a.audit_key
        ), absorbed AS (
            UPDATE accounts a SET absorbed_by = NULL, updated_at = now()
              FROM undone u
             WHERE a.application_id = $1 AND a.uid = u.absorbed
            RETURNING a.uid, a.audit_key
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'account.unmerged', sha256(audit_key || uuid_send(uid)),
                   jsonb_build_object(
                       'merge', $2::uuid, 'role', role,
                       'moved', (SELECT count(*) FROM moved),
                       'parked', (SELECT count(*) FROM unparked)
                           + CASE WHEN role = 'absorbed' THEN (SELECT count(*) FROM dropped) ELSE 0 END)
              FROM (SELECT *, 'survivor' AS role FROM survivor
                    UNION ALL SELECT *, 'absorbed' FROM absorbed) both_sides
        )
        SELECT survivor FROM undone
        """)

    /// Marks the addresses that an identity shows as unproven if its account no longer owns them, and restores when
    /// identities joined their accounts.
    ///
    /// The former concerns an identity that was linked because of an address that has now returned to the other account;
    /// the latter, identities that still have the time of the merge. A merge that an earlier version carried out has not
    /// recorded their former times.
    private static let restoreIdentities = Statement(
        .write,
        """
        WITH former AS MATERIALIZED (
            SELECT i.id,
                   i.email_verified AND EXISTS (
                       SELECT 1 FROM addresses d
                        WHERE d.application_id = $1 AND d.kind = 'email' AND d.address = i.email AND d.uid = i.uid
                   ) AS email_verified,
                   i.phone_verified AND EXISTS (
                       SELECT 1 FROM addresses d
                        WHERE d.application_id = $1 AND d.kind = 'phone' AND d.address = i.phone AND d.uid = i.uid
                   ) AS phone_verified,
                   CASE WHEN i.joined_at = m.merged_at AND m.filled -> 'joined' IS NOT NULL
                        THEN (m.filled -> 'joined' ->> i.id::text)::timestamptz
                        ELSE i.joined_at END AS joined_at
              FROM merges m
              JOIN identities i ON i.application_id = $1 AND i.uid IN ($3, $4)
             WHERE m.application_id = $1 AND m.id = $2
        )
        UPDATE identities i
           SET email_verified = former.email_verified, phone_verified = former.phone_verified,
               joined_at = former.joined_at
          FROM former
         WHERE i.application_id = $1 AND i.id = former.id
           AND (i.email_verified, i.phone_verified, i.joined_at)
               IS DISTINCT FROM (former.email_verified, former.phone_verified, former.joined_at)
        """)

    package func undo(_ merge: Merge, evenIfLate: Bool, application: Application.ID) async throws {
        try await writeOrConflict(
            Self.undoMerge,
            [.application(application), .uuid(merge.id), .bool(evenIfLate), .uuids(merge.identities)])
        try await write(
            Self.restoreIdentities,
            [.application(application), .uuid(merge.id), .uuid(merge.survivor), .uuid(merge.absorbed)])
    }

    private static let lockMergedAccounts = Statement(
        .write,
        """
        SELECT uid FROM accounts
         WHERE application_id = $1
           AND uid = ANY (ARRAY(
               SELECT unnest(ARRAY[survivor, absorbed]) FROM merges WHERE application_id = $1 AND id = $2 AND survivor = $3))
         ORDER BY uid
           FOR NO KEY UPDATE
        """)

    private static let selectUndoableMerge = Statement(
        .read, mergeColumns,
        """
          FROM merges m
         WHERE m.application_id = $1 AND m.id = $2 AND m.survivor = $3 AND m.undone_at IS NULL AND m.undo_until > now()
        """)

    /// The identities of the survivor with a password that `undoMerge` deletes because the other owner may know it.
    private static let selectSharedPasswords = Statement(
        .read,
        """
        SELECT p.identity_id
          FROM merges u
          JOIN identities i ON i.application_id = $1 AND i.uid = u.survivor
          JOIN passwords p ON p.application_id = $1 AND p.identity_id = i.id
         WHERE u.application_id = $1 AND u.id = $2 AND u.survivor = $3 AND
        """, isShared)

    package func sharedPasswords(of merge: Merge, application: Application.ID) async throws -> [UUID] {
        let binds: [Bind] = [.application(application), .uuid(merge.id), .uuid(merge.survivor)]
        return try await run(Self.selectSharedPasswords, binds).decoded { try $0.next() }
    }

    package func lockMerge(_ id: UUID, by principal: Principal) async throws -> LockedMerge {
        let account: [Bind] = [.application(principal.application.id), .uuid(principal.uid)]
        let session: [Bind] = [
            .application(principal.application.id), .uuid(principal.sessionID), .uuid(principal.uid),
        ]
        let merge: [Bind] = [.application(principal.application.id), .uuid(id), .uuid(principal.uid)]
        let identity: [Bind] = [.text(principal.provider), .text(principal.providerUid)]
        let answers = try await run([
            (Self.lockMergedAccounts, merge), (Self.lockSession, session), (Self.selectUndoableMerge, merge),
            (Self.selectContact, account), (Self.selectIdentitiesWithRoles, account + identity),
            (Self.selectSharedPasswords, merge),
        ])
        return LockedMerge(
            merge: try answers[2].decoded { try $0.nextMerge() }.first, isSessionLive: !answers[1].isEmpty,
            contact: try answers[3].contact(), hasNoRoleBeyondSession: answers[4].isEmpty,
            sharedPasswords: try answers[5].decoded { try $0.next() })
    }

    private static let revive = Statement(
        .write,
        """
        UPDATE sessions SET ended_at = NULL, end_reason = NULL, successor_uid = NULL
         WHERE application_id = $1 AND uid = $2 AND end_reason = 'merged' AND ended_at = $3 AND expires_at > now()
           AND kind = 'api'
        RETURNING id, generation
        """)

    package func reviveSessions(of merge: Merge, application: Application.ID) async throws {
        let binds: [Bind] = [.application(application), .uuid(merge.absorbed), .timestamp(merge.mergedAt)]
        try await write(Self.revive, binds) { rows in
            var payloads: [String] = []
            for var row in rows {
                let session = "\(application.rawValue):\(try row.next(UUID.self).text)"
                let generation: Int32 = try row.next()
                payloads.append("revived:\(session)")
                if generation > 0 { payloads.append("renewed:\(session):\(generation)") }
            }
            try await notify(payloads)
        }
    }
}
