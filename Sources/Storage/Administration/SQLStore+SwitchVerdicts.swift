internal import Accounts
internal import Administration
internal import Foundation
internal import Postgres

extension SQLStore {
    /// Selects the accounts that a change of mode may lock out, and decides if each can sign in before and after it.
    ///
    /// The parts of the statement, in order (`verdictBinds` has the parameters):
    /// - `idle`: phone numbers that were unused for too long, so that their identities do not sign in.
    /// - `granted`: the identities that an administrator's grant for all applications names, or else the other grants.
    /// - `steady`: accounts with an identity that signs in before and after the change; they are not locked out.
    /// - `doubtful`: the other accounts that the change concerns, and the administrators, but no guests.
    /// - `held`: what the identities of each doubtful account allow.
    /// - `verdict`: what these and codes to the account's addresses allow, for live accounts.
    ///
    /// Columns that end in `_now` describe the time before the change, those that end in `_after` the time after it:
    /// - `formal_…`: an identity without quarantine passes the rule of `ProviderRegistry.canSignIn(with:)`.
    /// - `opens_…`: an identity without quarantine signs in: it passes the rule, and its phone number is not idle.
    /// - `held_…`: the same for identities in quarantine, which sign in only if no other passes the rule.
    /// - `granted_…`: the same for the identities in `granted`, which alone count for an administrator.
    /// - `lead_…`: a code or a password reset to an address without its own identity signs in. It adds an identity, so
    ///   the account must have fewer than `$11`. A grant does not count in the sessions of that identity.
    /// - `way_…`: the account can sign in, in one of these ways.
    ///
    /// PostgreSQL can't estimate how many accounts are doubtful. `LATERAL` makes it read each by indexes instead of
    /// reading whole tables, and `OFFSET 0` keeps it from copying the inner query's expressions into each aggregate.
    /// There may be millions of guests; indexes alone find them, by their identity of the provider.
    static let switchVerdicts: StaticString = """
        WITH idle AS MATERIALIZED (
            SELECT d.uid, d.address FROM addresses d
             WHERE d.application_id = $1 AND d.kind = 'phone' AND d.verified_at < now() - $6::interval
               AND NOT EXISTS (
                   SELECT 1 FROM identities p
                    WHERE p.application_id = $1 AND p.uid = d.uid AND p.phone = d.address AND p.phone_verified
                      AND greatest(p.last_used_at, p.created_at) >= now() - $6::interval)
        ), granted AS MATERIALIZED (
            SELECT g.uid, unnest(g.identities) AS id FROM admin_grants g
             WHERE g.application_id = $1 AND g.uid = ANY ($13::uuid[])
               AND (g.granted_on = 0 OR NOT EXISTS (
                   SELECT 1 FROM admin_grants w
                    WHERE w.application_id = $1 AND w.uid = g.uid AND w.granted_on = 0))
        ), steady AS (
            SELECT s.uid FROM identities s
             WHERE s.application_id = $1 AND NOT s.is_guest AND s.quarantined_at IS NULL
               AND s.provider = ANY ($3::text[]) AND s.provider = ANY ($4::text[])
               AND NOT (s.provider = ANY ($5::text[])
                        AND (s.uid, s.provider_uid) IN (SELECT n.uid, n.address FROM idle n))
        ), doubtful AS MATERIALIZED (
            SELECT DISTINCT c.uid
              FROM (SELECT i.uid FROM identities i
                     WHERE i.application_id = $1 AND i.provider = $2
                       AND NOT EXISTS (
                           SELECT 1 FROM identities g
                            WHERE g.application_id = $1 AND g.uid = i.uid AND g.provider = $2 AND g.is_guest)
                     UNION ALL
                    SELECT d.uid FROM addresses d WHERE d.application_id = $1 AND d.kind = ANY ($12::text[])) AS c
             WHERE NOT EXISTS (SELECT 1 FROM steady s WHERE s.uid = c.uid)
             UNION
            SELECT unnest($13::uuid[])
        ), held AS MATERIALIZED (
            SELECT u.uid, f.*
              FROM doubtful u
             CROSS JOIN LATERAL (
                   SELECT count(*) FILTER (WHERE e.is_switched) AS identities, count(*) AS permanent,
                          bool_or(NOT e.is_held AND e.formal_now) AS formal_now,
                          bool_or(NOT e.is_held AND e.formal_after) AS formal_after,
                          bool_or(NOT e.is_held AND e.formal_after AND NOT e.is_idle) AS usable_after,
                          bool_or(NOT e.is_held AND e.opens_now) AS opens_now,
                          bool_or(NOT e.is_held AND e.opens_after) AS opens_after,
                          bool_or(e.is_held AND e.opens_now) AS held_opens_now,
                          bool_or(e.is_held AND e.opens_after) AS held_opens_after,
                          bool_or(e.is_granted AND NOT e.is_held AND e.opens_now) AS granted_now,
                          bool_or(e.is_granted AND NOT e.is_held AND e.opens_after) AS granted_after,
                          bool_or(e.is_granted AND e.is_held AND e.opens_now) AS held_granted_now,
                          bool_or(e.is_granted AND e.is_held AND e.opens_after) AS held_granted_after
                     FROM (SELECT m.is_switched, m.is_held, m.is_idle, m.is_granted,
                                  m.formal_now, m.formal_after, NOT m.is_idle AND m.formal_now AS opens_now,
                                  NOT m.is_idle AND m.formal_after AS opens_after
                             FROM (SELECT i.provider = $2 AS is_switched, i.quarantined_at IS NOT NULL AS is_held,
                                          i.provider = ANY ($3::text[]) AS formal_now,
                                          i.provider = ANY ($4::text[]) AS formal_after,
                                          i.provider = ANY ($5::text[])
                                          AND (i.uid, i.provider_uid) IN (SELECT n.uid, n.address FROM idle n)
                                              AS is_idle,
                                          (i.uid, i.id) IN (SELECT g.uid, g.id FROM granted g) AS is_granted
                                     FROM identities i
                                    WHERE i.application_id = $1 AND i.uid = u.uid AND NOT i.is_guest
                                   OFFSET 0) AS m) AS e) AS f
             WHERE f.permanent > 0
        ), verdict AS MATERIALIZED (
            SELECT h.uid, h.identities, h.usable_after,
                   h.granted_now OR h.held_granted_now AND NOT h.formal_now AS granted_now,
                   h.granted_after OR h.held_granted_after AND NOT h.formal_after AS granted_after,
                   h.opens_now OR h.held_opens_now AND NOT h.formal_now OR coalesce(c.lead_now, false) AS way_now,
                   h.opens_after OR h.held_opens_after AND NOT h.formal_after OR coalesce(c.lead_after, false)
                       AS way_after
              FROM held h
             CROSS JOIN LATERAL (
                   SELECT bool_or(way.is_now AND NOT (h.formal_now AND d.is_held)) AS lead_now,
                          bool_or(way.is_after AND NOT (h.formal_after AND d.is_held)) AS lead_after
                     FROM (SELECT a.kind, a.address,
                                  coalesce((
                                      SELECT bool_and(q.quarantined_at IS NOT NULL) FROM identities q
                                       WHERE q.application_id = $1 AND q.uid = h.uid
                                         AND (a.kind = 'email' AND q.email = a.address AND q.email_verified
                                              OR a.kind = 'phone' AND q.phone = a.address AND q.phone_verified)),
                                      false) AS is_held
                             FROM addresses a
                            WHERE a.application_id = $1 AND a.uid = h.uid
                              AND NOT (a.kind = 'phone' AND EXISTS (
                                  SELECT 1 FROM idle n WHERE n.uid = h.uid AND n.address = a.address))) AS d
                     JOIN (SELECT 'email' AS kind, e AS provider, e = ANY ($7::text[]) AS is_now,
                                  e = ANY ($8) AS is_after
                             FROM unnest($7 || $8::text[]) AS e
                            UNION
                           SELECT 'phone', p, p = ANY ($9::text[]), p = ANY ($10) FROM unnest($9 || $10::text[]) AS p
                          ) AS way ON way.kind = d.kind
                    WHERE h.permanent < $11
                      AND NOT EXISTS (
                          SELECT 1 FROM identities o
                           WHERE o.application_id = $1 AND o.provider = way.provider
                             AND o.provider_uid = d.address)) AS c
             WHERE NOT EXISTS (
                 SELECT 1 FROM accounts a
                  WHERE a.application_id = $1 AND a.uid = h.uid
                    AND (a.deleted_at IS NOT NULL OR a.disabled_at IS NOT NULL OR a.absorbed_by IS NOT NULL))
        )
        """

    /// The binds of `switchVerdicts`; of each pair, the first is before the change and the second after it.
    ///
    /// - `$1`: the application
    /// - `$2`: the provider whose mode changes
    /// - `$3`, `$4`: the providers whose identities sign in
    /// - `$5`: the providers of phone numbers
    /// - `$6`: how long a phone number may be unused
    /// - `$7`, `$8`: the providers of codes and password resets to e-mail addresses
    /// - `$9`, `$10`: the providers of codes to phone numbers
    /// - `$11`: the greatest number of identities of an account
    /// - `$12`: the kinds of addresses to which codes sign in before the change, but not after it
    /// - `$13`: the administrators to decide for, besides the accounts that the change concerns
    static func verdictBinds(_ change: ModeChange, admins: [UUID], application: Application.ID) -> [Bind] {
        let (now, after) = (change.now, change.after)
        return [
            .application(application), .text(change.provider), .texts(now.identities), .texts(after.identities),
            .texts(now.numbers), .interval(change.idleLimit), .texts(now.toEmail), .texts(after.toEmail),
            .texts(now.toPhone), .texts(after.toPhone),
            .int(change.maximumIdentities), .texts(now.addressKinds(lostIn: after)), .uuids(admins),
        ]
    }
}
