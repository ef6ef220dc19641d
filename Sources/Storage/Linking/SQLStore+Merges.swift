package import Accounts
package import Foundation
package import Postgres
internal import ProviderKit

extension SQLStore: AliasStore, MergeStore {
    /// Selects those of the accounts `$2`, and of the account of the merge ticket `$3`, that are live.
    private static let selectSides = Statement(
        .read,
        """
        SELECT a.uid, a.created_at, a.display_name, a.metadata::text, a.locale, now(),
               (SELECT count(*) FROM sessions s
                 WHERE s.application_id = $1 AND s.uid = a.uid AND s.ended_at IS NULL AND now() <
        """, endOfSession,
        """
               )
          FROM accounts a
         WHERE a.application_id = $1
           AND a.uid = ANY ($2::uuid[] || ARRAY(
                   SELECT p.uid FROM proofs p WHERE p.application_id = $1 AND p.kind = 'merge' AND p.hash = $3))
           AND a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
        """)

    private static let selectSideIdentities = Statement(
        .read,
        """
        SELECT uid, id, provider, provider_uid, is_guest, email, email_verified, phone, phone_verified, display_name,
               created_at, last_used_at, joined_at, quarantined_at IS NOT NULL
          FROM identities
         WHERE application_id = $1
           AND uid = ANY ($2::uuid[] || ARRAY(
                   SELECT p.uid FROM proofs p WHERE p.application_id = $1 AND p.kind = 'merge' AND p.hash = $3))
         ORDER BY created_at, id
        """)

    private static let selectSideAddresses = Statement(
        .read,
        """
        SELECT uid, kind, address, is_silent
          FROM addresses
         WHERE application_id = $1
           AND uid = ANY ($2::uuid[] || ARRAY(
                   SELECT p.uid FROM proofs p WHERE p.application_id = $1 AND p.kind = 'merge' AND p.hash = $3))
         ORDER BY verified_at, address
        """)

    private static let selectSideRoles = Statement(
        .read,
        """
        SELECT a.uid, g.identities
          FROM accounts a
          JOIN admin_grants g ON g.application_id = $1 AND g.uid = ANY (a.uid ||
        """, absorbed,
        """
               )
         WHERE a.application_id = $1
           AND a.uid = ANY ($2::uuid[] || ARRAY(
                   SELECT p.uid FROM proofs p WHERE p.application_id = $1 AND p.kind = 'merge' AND p.hash = $3))
        """)

    package func mergeReading(of uids: [UUID], application: Application.ID) async throws -> MergeReading {
        try Self.mergeReading(in: await run(Self.selectingSides(uids, ticket: nil, application))[...])
    }

    static func selectingSides(
        _ uids: [UUID], ticket: [UInt8]?, _ application: Application.ID
    ) -> [(statement: Statement, binds: [Bind])] {
        let binds: [Bind] = [.application(application), .uuids(uids), .bytes(ticket)]
        return [selectSides, selectSideIdentities, selectSideAddresses, selectSideRoles].map { ($0, binds) }
    }

    /// Decodes the answers to `selectingSides`.
    static func mergeReading(in answers: ArraySlice<Rows>) throws -> MergeReading {
        var (sides, contacts, time): ([UUID: MergeSide], [UUID: OwnerContact], Date) = ([:], [:], .distantPast)
        var remaining = answers
        for var row in remaining.removeFirst() {
            let uid: UUID = try row.next()
            let (createdAt, displayName): (Date, String?) = (try row.next(), try row.next())
            let metadata = try JSONValue(jsonText: row.next()).object ?? [:]
            contacts[uid] = OwnerContact(languages: try row.next())
            time = try row.next()
            sides[uid] = MergeSide(
                uid: uid, createdAt: createdAt, displayName: displayName, metadata: metadata, identities: [],
                addresses: [], sessions: try row.next())
        }
        for var row in remaining.removeFirst() {
            let uid: UUID = try row.next()
            sides[uid]?.identities.append(try row.nextIdentity())
        }
        for var row in remaining.removeFirst() {
            let uid: UUID = try row.next()
            guard let address = try row.nextAddress() else { continue }
            sides[uid]?.addresses.append(address)
            if try !row.next(Bool.self) { contacts[uid]?.addresses.append(address) }
        }
        for var row in remaining.removeFirst() {
            let uid: UUID = try row.next()
            sides[uid]?.roles.append(try row.next())
        }
        return MergeReading(sides: sides, contacts: contacts, time: time)
    }

    /// The survivor gets what either account has allowed OpenID clients.
    ///
    /// What the absorbed account has allowed installations of apps is deleted, because they end with its sessions.
    ///
    /// If the surviving account was a guest, its guest identity moves to the absorbed account, so that the merge can be
    /// undone. For the same reason the column `filled` keeps, under the key `joined`, the former `joined_at` of each
    /// identity that counts as linked by the merge.
    package static let carryOutMerge = Statement(
        .write,
        """
        WITH former AS MATERIALIZED (
            SELECT coalesce(jsonb_object_agg(id::text, joined_at), '{}') AS joined
              FROM identities
             WHERE application_id = $1 AND id = ANY ($10) AND joined_at IS NOT NULL
        ), moved AS (
            UPDATE identities
               SET uid = $3, joined_at = CASE WHEN id = ANY ($10) THEN clock.now ELSE joined_at END
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND uid = $4 AND id = ANY ($5)
            RETURNING id
        ), joined AS (
            UPDATE identities SET joined_at = now() WHERE application_id = $1 AND uid = $3 AND id = ANY ($10)
        ), parked AS (
            UPDATE identities SET uid = $4 WHERE application_id = $1 AND uid = $3 AND id = ANY ($6) RETURNING id
        ), repointed AS (
            UPDATE sessions s SET identity_id = $11
              FROM parked
             WHERE s.application_id = $1 AND s.uid = $3 AND s.identity_id = parked.id AND s.ended_at IS NULL
        ), owned AS (
            UPDATE addresses SET uid = $3 WHERE application_id = $1 AND uid = $4 RETURNING kind, address
        ), consented AS (
            INSERT INTO consents (application_id, uid, client_id, scopes, resources, granted_at)
            SELECT $1, $3, a.client_id, ARRAY(SELECT unnest(a.scopes) UNION SELECT unnest(s.scopes) ORDER BY 1),
                   ARRAY(SELECT unnest(a.resources) UNION SELECT unnest(s.resources) ORDER BY 1),
                   least(a.granted_at, s.granted_at)
              FROM consents a
              LEFT JOIN consents s ON s.application_id = $1 AND s.uid = $3 AND s.client_id = a.client_id
             WHERE a.application_id = $1 AND a.uid = $4 AND a.client_id NOT LIKE 'dyn~%'
            ON CONFLICT (application_id, uid, client_id) DO UPDATE
               SET scopes = excluded.scopes, resources = excluded.resources, granted_at = excluded.granted_at
        ), withdrawn AS (
            DELETE FROM consents WHERE application_id = $1 AND uid = $4
        ), survivor AS (
            UPDATE accounts
               SET display_name = coalesce(display_name, $7), metadata = $8::jsonb || metadata, updated_at = now()
             WHERE application_id = $1 AND uid = $3
            RETURNING uid, audit_key
        ), absorbed AS (
            UPDATE accounts SET absorbed_by = $3, updated_at = now()
             WHERE application_id = $1 AND uid = $4 AND absorbed_by IS NULL
            RETURNING uid, audit_key
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'account.merged', sha256(audit_key || uuid_send(uid)),
                   jsonb_build_object(
                       'merge', $2::uuid, 'role', CASE WHEN uid = $3 THEN 'survivor' ELSE 'absorbed' END,
                       'moved', (SELECT count(*) FROM moved), 'parked', (SELECT count(*) FROM parked))
              FROM (SELECT * FROM survivor UNION ALL SELECT * FROM absorbed) both_sides
        )
        INSERT INTO merges
               (application_id, id, survivor, absorbed, undo_until, identities, parked, address_kinds, addresses, filled)
        SELECT $1, $2, survivor.uid, absorbed.uid, now() + $9::interval, $5,
               coalesce((SELECT array_agg(id) FROM parked), '{}'),
               coalesce((SELECT array_agg(kind ORDER BY kind, address) FROM owned), '{}'),
               coalesce((SELECT array_agg(address ORDER BY kind, address) FROM owned), '{}'),
               jsonb_strip_nulls(jsonb_build_object('displayName', $7::text))
                   || jsonb_build_object('metadata', $8::jsonb, 'joined', former.joined)
          FROM survivor, absorbed, former
         WHERE (SELECT count(*) FROM moved) = cardinality($5)
           AND (cardinality($5) = 0
                OR (SELECT count(*) FROM identities
                     WHERE application_id = $1 AND uid = $3 AND NOT is_guest AND NOT id = ANY ($5))
                   + cardinality($5) <= $12)
        RETURNING id
        """)

    package func carryOut(
        _ plan: MergePlan, id: UUID, at time: Date, undoWindow: Duration, limit: Int, application: Application.ID
    ) async throws -> Merge {
        try await writeOrConflict(
            Self.carryOutMerge,
            [
                .application(application), .uuid(id), .uuid(plan.survivor), .uuid(plan.absorbed),
                .uuids(plan.identities.map(\.id)), .uuids(plan.guests.map(\.id)), .text(plan.displayName),
                .object(plan.metadata), .interval(undoWindow), .uuids(plan.newlyLinked),
                .uuid(plan.identities.first?.id), .int(limit),
            ])
        count(.merges, in: application)
        return Merge(
            id: id, survivor: plan.survivor, absorbed: plan.absorbed, mergedAt: time,
            undoUntil: time.addingTimeInterval(undoWindow.inSeconds), undoneAt: nil,
            identities: plan.identities.map(\.id), parked: plan.guests.map(\.id))
    }

    /// The columns of a merge `m`, for `nextMerge`.
    ///
    /// The identities are those that moved, and those that joined the survivor after the merge, but not by another merge,
    /// and are, or prove, an address of the absorbed account. An undo returns the address, so they must not open the
    /// survivor any longer. The change of an identity's address counts as its joining; a merge sets this time for all
    /// identities of both accounts, and keeps the former times in `filled`.
    static let mergeColumns: StaticString = """
        SELECT m.id, m.survivor, m.absorbed, m.merged_at, m.undo_until, m.undone_at,
               m.identities || ARRAY(
                   SELECT i.id FROM identities i
                    WHERE i.application_id = $1 AND i.uid = m.survivor
                      AND greatest(i.created_at, i.joined_at) > m.merged_at
                      AND (i.email = ANY (m.addresses) AND (i.email_verified OR i.email = i.provider_uid)
                           OR i.phone = ANY (m.addresses) AND (i.phone_verified OR i.phone = i.provider_uid))
                      AND NOT EXISTS (
                          SELECT 1 FROM merges n
                           WHERE n.application_id = $1 AND n.survivor = m.survivor AND n.id <> m.id
                             AND n.undone_at IS NULL
                             AND (i.id = ANY (n.identities)
                                  OR n.merged_at = i.joined_at
                                     AND coalesce((n.filled -> 'joined' ->> i.id::text)::timestamptz, i.created_at)
                                         <= m.merged_at))),
               m.parked
        """

    private static let selectMerges = Statement(
        .read, family, mergeColumns,
        """
          FROM family f
          JOIN merges m ON m.application_id = $1 AND m.survivor = f.uid
         ORDER BY m.merged_at DESC, m.id
        """)

    package func merges(of uid: UUID, application: Application.ID) async throws -> [Merge] {
        try await run(Self.selectMerges, [.application(application), .uuid(uid)]).decoded { try $0.nextMerge() }
    }

    private static let resolve = Statement(
        .read,
        """
        WITH RECURSIVE lineage AS (
            SELECT $2::uuid AS uid
            UNION
            SELECT a.absorbed_by FROM lineage l
              JOIN accounts a ON a.application_id = $1 AND a.uid = l.uid AND a.absorbed_by IS NOT NULL
        )
        SELECT l.uid FROM lineage l
          JOIN accounts a ON a.application_id = $1 AND a.uid = l.uid AND a.absorbed_by IS NULL
        """)

    package func resolve(_ uid: UUID, application: Application.ID) async throws -> UUID {
        var row = try await run(Self.resolve, [.application(application), .uuid(uid)]).first
        return try row?.next() ?? uid
    }
}

extension Row {
    mutating func nextMerge() throws -> Merge {
        Merge(
            id: try next(), survivor: try next(), absorbed: try next(), mergedAt: try next(), undoUntil: try next(),
            undoneAt: try next(), identities: try next(), parked: try next())
    }
}
