package import Accounts
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: AliasStore, MergeStore {
    private static let selectSide = Statement(
        .read,
        """
        SELECT created_at, display_name, metadata::text,
               (SELECT count(*) FROM sessions s
                 WHERE s.application_id = $1 AND s.uid = $2 AND s.ended_at IS NULL AND s.expires_at > now())
          FROM accounts
         WHERE application_id = $1 AND uid = $2
           AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
        """)

    private static let selectAddresses = Statement(
        .read,
        "SELECT kind, address FROM addresses WHERE application_id = $1 AND uid = $2 ORDER BY verified_at, address")

    package func mergeSide(_ uid: UUID, application: Application.ID) async throws -> MergeSide {
        let binds: [Bind] = [.application(application), .uuid(uid)]
        var row = try await run(Self.selectSide, binds).firstOrConflict()
        return MergeSide(
            uid: uid, createdAt: try row.next(), displayName: try row.next(),
            metadata: try JSONValue(jsonText: row.next()).object ?? [:],
            identities: try await identities(of: uid, application: application),
            addresses: try await run(Self.selectAddresses, binds).compactMap { row in
                var row = row
                return try row.nextAddress()
            },
            sessions: try row.next())
    }

    /// If the surviving account was a guest, its guest identity moves to the absorbed account, so that the merge can be
    /// undone.
    private static let carryOutMerge = Statement(
        .write,
        """
        WITH moved AS (
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
               jsonb_strip_nulls(jsonb_build_object('displayName', $7::text)) || jsonb_build_object('metadata', $8::jsonb)
          FROM survivor, absorbed
         WHERE (SELECT count(*) FROM moved) = cardinality($5)
        RETURNING id, survivor, absorbed, merged_at, undo_until, undone_at, identities, parked
        """)

    package func carryOut(
        _ plan: MergePlan, id: UUID, undoWindow: Duration, application: Application.ID
    ) async throws -> Merge {
        var row = try await one(
            Self.carryOutMerge,
            [
                .application(application), .uuid(id), .uuid(plan.survivor), .uuid(plan.absorbed),
                .uuids(plan.identities.map(\.id)), .uuids(plan.guests.map(\.id)), .text(plan.displayName),
                .json(try JSONValue.object(plan.metadata).jsonText()), .interval(undoWindow), .uuids(plan.newlyLinked),
                .uuid(plan.identities.first?.id),
            ])
        return try row.nextMerge()
    }

    private static let selectMerges = Statement(
        .read, family,
        """
        SELECT m.id, m.survivor, m.absorbed, m.merged_at, m.undo_until, m.undone_at, m.identities, m.parked
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
    fileprivate mutating func nextMerge() throws -> Merge {
        Merge(
            id: try next(), survivor: try next(), absorbed: try next(), mergedAt: try next(), undoUntil: try next(),
            undoneAt: try next(), identities: try next(), parked: try next())
    }
}
