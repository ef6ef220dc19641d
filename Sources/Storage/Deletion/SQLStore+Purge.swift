package import Accounts
package import Foundation
internal import Postgres

/// Removes accounts and all data about them.
///
/// A family is an account with all accounts that were merged into it, directly or indirectly.
extension SQLStore: ErasureStore {
    /// The uids of the family of the account `$2`, as the common table expression `family`.
    static let family: StaticString = """
        WITH RECURSIVE family AS (
            SELECT $2::uuid AS uid
            UNION
            SELECT a.uid FROM family f JOIN accounts a ON a.application_id = $1 AND a.absorbed_by = f.uid
        )
        """

    /// Restricts a statement that begins with `family` to the rows of these accounts.
    static let ofFamily: StaticString = """
        WHERE application_id = $1 AND uid = ANY (ARRAY(SELECT uid FROM family))
        """

    /// Locks the accounts of a family in the order of their uids, like every statement that locks several accounts.
    private static let lockFamily = Statement(
        .write, family,
        """
        SELECT a.uid FROM accounts a
         WHERE a.application_id = $1 AND a.uid IN (SELECT uid FROM family)
           AND EXISTS (SELECT 1 FROM accounts WHERE application_id = $1 AND uid = $2)
         ORDER BY a.uid
           FOR UPDATE OF a
        """)

    package func lockFamily(of uid: UUID, application: Application.ID) async throws -> [UUID] {
        let rows = try await run(Self.lockFamily, [.application(application), .uuid(uid)])
        let family = try rows.decoded { try $0.next(UUID.self) }
        return family.contains(uid) ? family : []
    }

    /// Selects the subjects of the family's identities and registrations.
    ///
    /// Leaves out a registration whose email address another account owns, so that rows about the subject that belong
    /// to the other account's owner are kept. `eraseTraces` still deletes the registration itself.
    private static let selectSubjects = Statement(
        .read,
        """
        SELECT provider, provider_uid FROM identities WHERE application_id = $1 AND uid = ANY ($2)
        UNION
        SELECT r.provider, r.provider_uid FROM registrations r
         WHERE r.application_id = $1 AND r.uid = ANY ($2)
           AND NOT EXISTS (SELECT 1 FROM addresses d
                            WHERE d.application_id = $1 AND d.kind = 'email' AND d.address = r.address
                              AND d.uid <> ALL ($2))
        """)

    /// Selects the addresses of the family, of its identities and of its registrations.
    ///
    /// Leaves out addresses that another account owns, even if an identity of the family shows them.
    private static let selectAddresses = Statement(
        .read,
        """
        SELECT address FROM addresses WHERE application_id = $1 AND uid = ANY ($2)
        UNION
        SELECT shown.address
          FROM identities i CROSS JOIN LATERAL (VALUES ('email', i.email), ('phone', i.phone)) AS shown (kind, address)
         WHERE i.application_id = $1 AND i.uid = ANY ($2) AND shown.address IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM addresses d
                            WHERE d.application_id = $1 AND d.kind = shown.kind AND d.address = shown.address
                              AND d.uid <> ALL ($2))
        UNION
        SELECT r.address FROM registrations r
         WHERE r.application_id = $1 AND r.uid = ANY ($2)
           AND NOT EXISTS (SELECT 1 FROM addresses d
                            WHERE d.application_id = $1 AND d.kind = 'email' AND d.address = r.address
                              AND d.uid <> ALL ($2))
        """)

    package func traces(of family: [UUID], application: Application.ID) async throws -> AccountTraces {
        let binds: [Bind] = [.application(application), .uuids(family)]
        return AccountTraces(
            subjects: try await run(Self.selectSubjects, binds).decoded { row in
                AccountTraces.Subject(provider: try row.next(), providerUid: try row.next())
            },
            addresses: try await run(Self.selectAddresses, binds).decoded { try $0.next(String.self) })
    }

    /// Limits lock waits, to avoid a deadlock with a call that presents a code or a token.
    ///
    /// Such a call locks the row of its code or token and may then wait for the account that is locked here.
    private static let waitBriefly = Statement(.write, "SELECT set_config('lock_timeout', '100ms', true)")

    /// Deletes the rows that don't refer to the account and are therefore not deleted with it by cascade.
    ///
    /// A rate limit's name contains the limit and the window, which may have changed since, so the statement searches
    /// every name in the table. Codes are deleted by their keys, because an attempt may update one meanwhile,
    /// which moves its row. A redirect flow that is locked because its code is being redeemed is skipped;
    /// redemption removes its evidence.
    private static let eraseTraces = Statement(
        .write,
        """
        WITH RECURSIVE names AS (
            SELECT min(name) AS name FROM rate_limits WHERE application_id = $1
            UNION ALL
            SELECT (SELECT min(r.name) FROM rate_limits r WHERE r.application_id = $1 AND r.name > n.name)
              FROM names n WHERE n.name IS NOT NULL
        ), subjects AS (
            SELECT * FROM unnest($2::text[], $3::text[]) AS subject (provider, provider_uid)
        ), session AS MATERIALIZED (
            SELECT id FROM sessions WHERE application_id = $1 AND uid = ANY ($8)
        ), proofs_gone AS (
            DELETE FROM proofs WHERE application_id = $1 AND (kind, hash) IN (
                SELECT p.kind, p.hash FROM proofs p WHERE p.application_id = $1 AND p.address = ANY ($4)
                UNION
                SELECT p.kind, p.hash FROM subjects s
                  JOIN proofs p ON p.application_id = $1 AND p.kind = ANY ($7) AND p.provider = s.provider
                               AND p.provider_uid = s.provider_uid
                UNION
                SELECT p.kind, p.hash FROM identities i
                  JOIN proofs p ON p.application_id = $1 AND p.kind = 'address-change' AND p.identity_id = i.id
                 WHERE i.application_id = $1 AND i.uid = ANY ($8)
                UNION
                SELECT p.kind, p.hash FROM session s
                  JOIN proofs p ON p.application_id = $1 AND p.session_id = s.id
                UNION
                SELECT p.kind, p.hash FROM registrations r
                  JOIN proofs p ON p.application_id = $1 AND p.kind = 'registration' AND p.provider = r.provider
                               AND p.provider_uid = r.provider_uid
                 WHERE r.application_id = $1 AND r.uid = ANY ($8))
            RETURNING 1
        ), registrations_gone AS (
            DELETE FROM registrations WHERE application_id = $1 AND ctid IN (
                SELECT r.ctid FROM registrations r WHERE r.application_id = $1 AND r.address = ANY ($4)
                UNION
                SELECT r.ctid FROM subjects s
                  JOIN registrations r ON r.application_id = $1 AND r.provider = s.provider
                                      AND r.provider_uid = s.provider_uid
                UNION
                SELECT r.ctid FROM registrations r WHERE r.application_id = $1 AND r.uid = ANY ($8))
            RETURNING 1
        ), failures_gone AS (
            DELETE FROM password_failures WHERE application_id = $1 AND subject = ANY ($5) RETURNING 1
        ), guesses_gone AS (
            DELETE FROM code_guesses
             WHERE application_id = $1 AND subject IN (
                   SELECT sha256(convert_to(kind || ':' || address, 'UTF8'))
                     FROM unnest($4::text[]) AS shown (address), unnest(ARRAY['email', 'phone']) AS kind)
            RETURNING 1
        ), limits_gone AS (
            DELETE FROM rate_limits r USING names n
             WHERE r.application_id = $1 AND r.name = n.name AND r.subject = ANY ($6)
            RETURNING 1
        ), messages_gone AS (
            DELETE FROM outbox WHERE application_id = $1 AND (recipient = ANY ($9) OR uid = ANY ($8)) RETURNING 1
        ), flows_gone AS (
            DELETE FROM redirect_flows WHERE application_id = $1 AND ctid = ANY (ARRAY(
                SELECT ctid FROM redirect_flows
                 WHERE application_id = $1
                   AND (marks && $10 OR session_id = ANY (ARRAY(SELECT id FROM session))
                        OR linking_session = ANY (ARRAY(SELECT id FROM session)))
                   FOR UPDATE SKIP LOCKED))
            RETURNING 1
        ), requests_gone AS (
            DELETE FROM authorization_requests
             WHERE application_id = $1 AND marks && ($10 || ARRAY(SELECT uuid_send(id) FROM session))
        )
        SELECT (SELECT count(*) FROM proofs_gone), (SELECT count(*) FROM registrations_gone),
               (SELECT count(*) FROM failures_gone) + (SELECT count(*) FROM guesses_gone)
               + (SELECT count(*) FROM limits_gone),
               (SELECT count(*) FROM messages_gone), (SELECT count(*) FROM flows_gone)
        """)

    /// Deleting the account's row, which holds its audit key, deletes the rest by cascade.
    ///
    /// The rows are counted in an earlier part of the statement: Citus runs the parts one after the other, so that the
    /// last part finds no rows.
    private static let eraseAccount = Statement(
        .write,
        """
        WITH identity AS MATERIALIZED (
            SELECT id, provider FROM identities WHERE application_id = $1 AND uid = ANY ($3)
        ), session AS MATERIALIZED (
            SELECT id FROM sessions WHERE application_id = $1 AND uid = ANY ($3)
        ), remembered AS (
            INSERT INTO ended_sessions (application_id, id, forget_after)
            SELECT $1, id, now() + $4::interval FROM session
            ON CONFLICT DO NOTHING
        ), token AS MATERIALIZED (
            SELECT i.id, i.provider, t.sealed
              FROM identity i JOIN provider_tokens t ON t.application_id = $1 AND t.identity_id = i.id
        ), handed AS (
            INSERT INTO token_revocations (application_id, identity_id, provider, uid, sealed)
            SELECT $1, id, provider, $2, sealed FROM token
        ), counted AS MATERIALIZED (
            SELECT (SELECT count(*) FROM identity) AS identities, (SELECT count(*) FROM session) AS sessions,
                   (SELECT count(*) FROM identity i
                      JOIN passwords p ON p.application_id = $1 AND p.identity_id = i.id) AS passwords,
                   (SELECT count(*) FROM addresses WHERE application_id = $1 AND uid = ANY ($3)) AS addresses,
                   (SELECT count(*) FROM session s
                      JOIN refresh_tokens t ON t.application_id = $1 AND t.session_id = s.id) AS refresh_tokens
        ), gone AS (
            DELETE FROM accounts WHERE application_id = $1 AND uid = $2
        )
        SELECT identities, sessions, passwords, addresses, refresh_tokens FROM counted
        """)

    package func erase(
        _ uid: UUID, family: [UUID], traces: ErasableTraces, memory: Duration, application: Application.ID
    ) async throws -> ErasedData {
        try await write(Self.waitBriefly, [])
        var traceCounts = try await run(
            Self.eraseTraces,
            [
                .application(application), .texts(traces.subjects.map(\.provider)),
                .texts(traces.subjects.map(\.providerUid)), .texts(traces.addresses), .bytesArray(traces.attempts),
                .bytesArray(traces.limited), .texts(ProofKind.allCases.map(\.rawValue) + ChallengePurpose.kinds),
                .uuids(family), .bytesArray(traces.addresses.map { sealing.mark(of: $0) }),
                .bytesArray(
                    traces.addresses.map { sealing.mark(of: $0) }
                        + traces.subjects.map { sealing.mark(of: $0.providerUid, at: $0.provider) }),
            ]
        ).firstOrConflict()
        var accountCounts = try await run(
            Self.eraseAccount,
            [.application(application), .uuid(uid), .uuids(family), .interval(memory + Self.margin)]
        ).firstOrConflict()
        return ErasedData(
            aliases: family.filter { $0 != uid },
            counts: [
                "proofs": try traceCounts.next(), "registrations": try traceCounts.next(),
                "counters": try traceCounts.next(), "messages": try traceCounts.next(),
                "redirectFlows": try traceCounts.next(),
                "identities": try accountCounts.next(), "sessions": try accountCounts.next(),
                "passwords": try accountCounts.next(), "addresses": try accountCounts.next(),
                "refreshTokens": try accountCounts.next(),
            ])
    }

    /// The ids of ended sessions are kept this much longer, because a token may have been signed just after its session
    /// ended.
    private static let margin: Duration = .seconds(60)

    private static let selectExisting = Statement(
        .read, "SELECT uid FROM accounts WHERE application_id = $1 AND uid = ANY ($2)")

    package func existing(_ uids: [UUID], application: Application.ID) async throws -> [UUID] {
        try await run(Self.selectExisting, [.application(application), .uuids(uids)]).decoded { try $0.next() }
    }
}
