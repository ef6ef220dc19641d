package import Accounts
package import Administration
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: ProviderPlanStore {
    /// Counts all accounts that have an identity of the provider, and corrects the count by the doubtful accounts.
    ///
    /// An account that can't sign in before the change is subtracted. One without an identity of the provider is added
    /// if the change strands it. `holders` counts by `identities_of_provider` alone, which has guests too, and
    /// subtracts these. `$14` is whether the provider's identities no longer sign in after the change, and `$15` the
    /// size of the sample.
    private static let countEffect = Statement(
        .read, switchVerdicts,
        """
        , counted AS NOT MATERIALIZED (
            SELECT uid, identities, way_now, granted_now, granted_after,
                   way_now AND NOT way_after AS is_stranded,
                   way_now AND way_after AND $14::bool AND identities > 0 AND NOT usable_after AS is_detour
              FROM verdict
        ), holders AS MATERIALIZED (
            SELECT count(*) AS accounts,
                   coalesce(sum(h.identities - coalesce(g.identities, 0)), 0)::bigint AS identities
              FROM (SELECT i.uid, count(*) AS identities FROM identities i
                     WHERE i.application_id = $1 AND i.provider = $2
                     GROUP BY i.uid) AS h
              LEFT JOIN (SELECT i.uid, count(*) AS identities FROM identities i
                          WHERE i.application_id = $1 AND i.provider = $2 AND i.is_guest
                          GROUP BY i.uid) AS g ON g.uid = h.uid
             WHERE h.identities > coalesce(g.identities, 0)
               AND NOT EXISTS (
                   SELECT 1 FROM accounts a
                    WHERE a.application_id = $1 AND a.uid = h.uid
                      AND (a.deleted_at IS NOT NULL OR a.disabled_at IS NOT NULL OR a.absorbed_by IS NOT NULL))
        )
        SELECT (SELECT identities FROM holders) - coalesce(sum(identities) FILTER (WHERE NOT way_now), 0)::bigint,
               (SELECT accounts FROM holders) - count(*) FILTER (WHERE NOT way_now AND identities > 0)
               + count(*) FILTER (WHERE is_stranded AND identities = 0),
               (SELECT count(DISTINCT i.uid)
                  FROM identities i
                  JOIN accounts a ON a.application_id = $1 AND a.uid = i.uid
                 WHERE i.application_id = $1 AND i.provider = $2 AND NOT i.is_guest
                   AND a.deleted_at IS NOT NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL),
               count(*) FILTER (WHERE is_stranded), count(*) FILTER (WHERE is_detour),
               coalesce(sum((SELECT count(*) FROM sessions s
                              WHERE s.application_id = $1 AND s.uid = counted.uid AND s.ended_at IS NULL
                                AND s.expires_at > now())) FILTER (WHERE is_stranded), 0)::bigint,
               ARRAY(SELECT uid FROM counted WHERE is_stranded ORDER BY uid LIMIT $15),
               coalesce(array_agg(uid ORDER BY uid) FILTER (WHERE granted_now AND NOT granted_after), '{}'),
               coalesce(array_agg(uid ORDER BY uid) FILTER (WHERE is_detour AND granted_after), '{}'),
               coalesce(array_agg(uid ORDER BY uid) FILTER (WHERE granted_after), '{}')
          FROM counted
        """)

    /// Without `OFFSET 0`, PostgreSQL would look up the identities of all providers by their ids to avoid a sort.
    private static let countTraffic = Statement(
        .read,
        """
        SELECT count(*) FILTER (WHERE s.ended_at IS NULL AND s.expires_at > now()),
               count(*) FILTER (WHERE s.created_at > now() - interval '7 days' AND s.kind <> 'client'),
               (SELECT count(*) FROM redirect_flows r
                 WHERE r.application_id = $1 AND r.provider = $2 AND r.redeemed_at IS NULL AND r.expires_at > now())
               + (SELECT count(*) FROM proofs p
                   WHERE p.application_id = $1 AND p.kind = 'code' AND p.provider = $2 AND p.expires_at > now())
          FROM sessions s
          JOIN (SELECT id FROM identities WHERE application_id = $1 AND provider = $2 OFFSET 0) AS i
            ON i.id = s.identity_id
         WHERE s.application_id = $1
        """)

    /// Lets PostgreSQL join and group in the order of an index or of a sort, on one core, until the transaction ends.
    ///
    /// With ten million accounts, joins and groups by hash take twice as long, because the hashes do not fit into
    /// memory, and further processes would keep sign-ins waiting. A plan for these values takes 6 s less than one for
    /// any. A pooler may have dropped the session's `jit`.
    private static let prepareToCount = Statement(
        .write,
        """
        SELECT set_config('jit', 'off', true), set_config('work_mem', '64MB', true),
               set_config('enable_hashagg', 'off', true), set_config('enable_hashjoin', 'off', true),
               set_config('max_parallel_workers_per_gather', '0', true),
               set_config('plan_cache_mode', 'force_custom_plan', true)
        """)

    package func effect(
        of change: ModeChange, admins: [UUID], sample: Int, application: Application.ID
    ) async throws -> ModeEffect {
        try await write(Self.prepareToCount, [])
        let binds = Self.verdictBinds(change, admins: admins, application: application)
        var row = try await one(Self.countEffect, binds + [.bool(change.endsSignIn), .int(sample)])
        return ModeEffect(
            identities: try row.next(), accounts: try row.next(), inGrace: try row.next(), stranded: try row.next(),
            detour: try row.next(), sessionsOfStranded: try row.next(), sample: try row.next(),
            admins: .init(stranded: try row.next(), detour: try row.next(), remaining: try row.next()))
    }

    package func traffic(of provider: String, application: Application.ID) async throws -> ProviderTraffic {
        try await write(Self.prepareToCount, [])
        var row = try await one(Self.countTraffic, [.application(application), .text(provider)])
        return ProviderTraffic(
            sessions: try row.next(), recentSignIns: try row.next(), flowsUnderWay: try row.next())
    }

    private static let insertPlan = Statement(
        .write,
        """
        INSERT INTO provider_plans (application_id, id, provider, mode_from, mode_to, stranded)
        VALUES ($1, $2, $3, $4, $5, $6)
        RETURNING created_at
        """)

    package func insert(_ plan: StoredPlan, application: Application.ID) async throws -> Date {
        let binds: [Bind] = [
            .application(application), .uuid(plan.id), .text(plan.provider), .text(plan.from.rawValue),
            .text(plan.to.rawValue), .int(plan.stranded),
        ]
        var row = try await one(Self.insertPlan, binds)
        return try row.next(Date.self).addingTimeInterval(StoredPlan.lifetime.inSeconds)
    }

    private static let takePlan = Statement(
        .write,
        """
        DELETE FROM provider_plans
         WHERE application_id = $1 AND id = $2 AND provider = $3 AND created_at > now() - $4::interval
        RETURNING mode_from, mode_to, stranded
        """)

    package func takePlan(
        _ id: UUID, of provider: String, application: Application.ID
    ) async throws -> StoredPlan? {
        let binds: [Bind] = [
            .application(application), .uuid(id), .text(provider), .interval(StoredPlan.lifetime),
        ]
        guard var row = try await run(Self.takePlan, binds).first else { return nil }
        guard let from = ProviderMode(rawValue: try row.next()), let to = ProviderMode(rawValue: try row.next()) else {
            return nil
        }
        return StoredPlan(id: id, provider: provider, from: from, to: to, stranded: try row.next())
    }
}
