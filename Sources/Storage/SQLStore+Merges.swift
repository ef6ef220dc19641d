package import Accounts
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore {
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

    package func mergeSide(_ uid: UUID, application: Int32) async throws -> MergeSide {
        let binds: [Bind] = [.int4(application), .uuid(uid)]
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

    /// The guest's identity that a surviving guest gives up goes to the absorbed account, for the way back.
    private static let carryOutMerge = Statement(
        .write,
        """
        WITH moved AS (
            UPDATE identities SET uid = $3 WHERE application_id = $1 AND uid = $4 AND id = ANY ($5) RETURNING id
        ), parked AS (
            UPDATE identities SET uid = $4 WHERE application_id = $1 AND uid = $3 AND id = ANY ($6) RETURNING id
        ), repointed AS (
            UPDATE sessions s SET identity_id = ($5::uuid[])[1]
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
        _ plan: MergePlan, id: UUID, undoWindow: Duration, application: Int32
    ) async throws -> Merge {
        let rows = try await run(
            Self.carryOutMerge,
            [
                .int4(application), .uuid(id), .uuid(plan.survivor), .uuid(plan.absorbed),
                .uuids(plan.identities.map(\.id)), .uuids(plan.guests.map(\.id)), .text(plan.displayName),
                .json(try JSONValue.object(plan.metadata).jsonText()), .interval(undoWindow),
            ])
        var row = try rows.firstOrConflict()
        return try row.nextMerge()
    }

    private static let selectMerges = Statement(
        .read,
        """
        WITH RECURSIVE lineage AS (
            SELECT $2::uuid AS uid
            UNION
            SELECT a.uid FROM lineage l
              JOIN accounts a ON a.application_id = $1 AND a.absorbed_by = l.uid
        )
        SELECT m.id, m.survivor, m.absorbed, m.merged_at, m.undo_until, m.undone_at, m.identities, m.parked
          FROM lineage l
          JOIN merges m ON m.application_id = $1 AND m.survivor = l.uid
         ORDER BY m.merged_at DESC, m.id
        """)

    package func merges(of uid: UUID, application: Int32) async throws -> [Merge] {
        try await run(Self.selectMerges, [.int4(application), .uuid(uid)]).map { row in
            var row = row
            return try row.nextMerge()
        }
    }

    /// What was taken over goes again only where it is still as it was taken; an address goes with an identity that
    /// shows it, also one that it was given meanwhile, and stays where only one that stays shows it.
    private static let undoMerge = Statement(
        .write,
        """
        WITH undone AS (
            UPDATE merges SET undone_at = now()
             WHERE application_id = $1 AND id = $2 AND undone_at IS NULL AND undo_until > now()
            RETURNING survivor, absorbed, merged_at, identities, parked, address_kinds, addresses, filled
        ), leaving AS MATERIALIZED (
            SELECT i.id, i.email, i.email_verified, i.phone, i.phone_verified, u.absorbed
              FROM undone u JOIN identities i ON i.application_id = $1 AND i.uid = u.survivor
               AND i.id = ANY (u.identities)
        ), staying AS MATERIALIZED (
            SELECT i.id, i.email, i.email_verified, i.phone, i.phone_verified
              FROM undone u JOIN identities i ON i.application_id = $1 AND i.uid = u.survivor
               AND NOT i.id = ANY (u.identities)
        ), shown AS MATERIALIZED (
            SELECT d.kind, d.address,
                   EXISTS (SELECT FROM unnest(u.address_kinds, u.addresses) AS recorded (kind, address)
                            WHERE recorded.kind = d.kind AND recorded.address = d.address) AS came_along,
                   EXISTS (SELECT FROM leaving i
                            WHERE d.kind = 'email' AND i.email = d.address AND i.email_verified
                               OR d.kind = 'phone' AND i.phone = d.address AND i.phone_verified) AS leaves,
                   EXISTS (SELECT FROM staying i
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
        ), unparked AS (
            UPDATE identities i SET uid = u.survivor
              FROM undone u
             WHERE i.application_id = $1 AND i.uid = u.absorbed AND i.id = ANY (u.parked)
               AND NOT EXISTS (SELECT FROM staying)
            RETURNING i.id
        ), repointed AS (
            UPDATE sessions s SET identity_id = u.parked[1]
              FROM undone u
             WHERE s.application_id = $1 AND s.uid = u.survivor AND cardinality(u.parked) > 0
               AND NOT EXISTS (SELECT FROM staying)
               AND s.identity_id = ANY (u.identities) AND s.created_at <= u.merged_at AND s.ended_at IS NULL
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
                       'moved', (SELECT count(*) FROM moved), 'parked', (SELECT count(*) FROM unparked))
              FROM (SELECT *, 'survivor' AS role FROM survivor
                    UNION ALL SELECT *, 'absorbed' FROM absorbed) both_sides
        )
        SELECT survivor FROM undone
        """)

    /// What joined by an address that has gone back shows one that is not its account's any more.
    private static let showAsUnproven = Statement(
        .write,
        """
        WITH shown AS (
            SELECT i.id,
                   i.email_verified AND EXISTS (
                       SELECT FROM addresses d
                        WHERE d.application_id = $1 AND d.kind = 'email' AND d.address = i.email AND d.uid = i.uid
                   ) AS email_verified,
                   i.phone_verified AND EXISTS (
                       SELECT FROM addresses d
                        WHERE d.application_id = $1 AND d.kind = 'phone' AND d.address = i.phone AND d.uid = i.uid
                   ) AS phone_verified
              FROM identities i
             WHERE i.application_id = $1 AND i.uid IN ($2, $3)
        )
        UPDATE identities i SET email_verified = shown.email_verified, phone_verified = shown.phone_verified
          FROM shown
         WHERE i.application_id = $1 AND i.id = shown.id
           AND (i.email_verified, i.phone_verified) <> (shown.email_verified, shown.phone_verified)
        """)

    package func undo(_ merge: Merge, application: Int32) async throws -> Bool {
        guard try await run(Self.undoMerge, [.int4(application), .uuid(merge.id)]).first != nil else { return false }
        _ = try await run(Self.showAsUnproven, [.int4(application), .uuid(merge.survivor), .uuid(merge.absorbed)])
        return true
    }

    private static let revive = Statement(
        .write,
        """
        UPDATE sessions SET ended_at = NULL, end_reason = NULL, successor_uid = NULL
         WHERE application_id = $1 AND uid = $2 AND end_reason = 'merged' AND ended_at = $3 AND expires_at > now()
        RETURNING id, pg_notify('gatehouse', 'revived:' || $1::text || ':' || id::text)
        """)

    package func reviveSessions(of merge: Merge, application: Int32) async throws {
        let binds: [Bind] = [.int4(application), .uuid(merge.absorbed), .timestamp(merge.mergedAt)]
        _ = try await run(Self.revive, binds)
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

    package func resolve(_ uid: UUID, application: Int32) async throws -> UUID {
        var row = try await run(Self.resolve, [.int4(application), .uuid(uid)]).first
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
