package import Accounts
package import Foundation
internal import Postgres
package import ProviderKit

extension SQLStore: ChallengeStore {
    /// Creates a challenge; if two requests race, only one of them creates it.
    ///
    /// A request within the resend interval gets the existing challenge, or an alias of it if the request comes from
    /// another network. An alias is a challenge id with its own count of attempts that leads to the same code. If a
    /// concurrent request from the same network creates the alias, it is not visible yet, and the statement is run
    /// again.
    private static let issueChallenge = Statement(
        .write,
        """
        WITH code AS (
            INSERT INTO proofs AS p
                   (application_id, kind, challenge_id, provider, provider_uid, address_kind, address, hash, session_id,
                    methods, expires_at, code_hash, network)
            VALUES ($1, 'code', $2, $3, $4, $5, $6, $7, $8, '{}', now() + $9::interval,
                    sha256(uuid_send($2) || $11::bytea), $12)
            ON CONFLICT (application_id, provider, provider_uid,
                         coalesce(session_id, '00000000-0000-0000-0000-000000000000')) WHERE kind = 'code'
            DO UPDATE SET
                challenge_id = CASE WHEN excluded.created_at - p.created_at >= $10 THEN excluded.challenge_id
                                    ELSE p.challenge_id END,
                hash = CASE WHEN excluded.created_at - p.created_at >= $10 THEN excluded.hash ELSE p.hash END,
                code_hash = CASE WHEN excluded.created_at - p.created_at >= $10 THEN excluded.code_hash
                                 ELSE p.code_hash END,
                network = CASE WHEN excluded.created_at - p.created_at >= $10 THEN excluded.network ELSE p.network END,
                attempts = CASE WHEN excluded.created_at - p.created_at >= $10 THEN 0 ELSE p.attempts END,
                created_at = CASE WHEN excluded.created_at - p.created_at >= $10 THEN excluded.created_at
                                  ELSE p.created_at END,
                expires_at = CASE WHEN excluded.created_at - p.created_at >= $10 THEN excluded.expires_at
                                  ELSE p.expires_at END
            RETURNING challenge_id, network, created_at, expires_at
        ), aliased AS (
            INSERT INTO code_aliases (application_id, challenge_id, code_id, network, expires_at)
            SELECT $1, $2, challenge_id, $12, expires_at FROM code WHERE $8::uuid IS NULL AND network <> $12
            ON CONFLICT (application_id, code_id, network) DO NOTHING
            RETURNING challenge_id
        ), asked AS (
            SELECT coalesce(
                       (SELECT challenge_id FROM aliased),
                       (SELECT a.challenge_id FROM code_aliases a
                         WHERE a.application_id = $1 AND a.code_id = code.challenge_id AND a.network = $12),
                       CASE WHEN $8::uuid IS NOT NULL OR coalesce(network, $12) = $12 THEN challenge_id END) AS id,
                   challenge_id = $2 AS is_new, created_at
              FROM code
        )
        SELECT id, is_new, greatest(extract(epoch FROM now() - created_at), 0)::float8 FROM asked WHERE id IS NOT NULL
        """)

    /// Creates the challenge for an address change, of which an identity has at most one.
    ///
    /// A request for another address replaces the challenge at once, without waiting for the resend interval.
    private static let issueAddressChange = Statement(
        .write,
        """
        WITH issued AS (
            INSERT INTO proofs
                   (application_id, kind, challenge_id, provider, provider_uid, address_kind, address, hash,
                    identity_id, methods, expires_at)
            VALUES ($1, 'address-change', $2, $3, $4, $5, $6, $7, $8, '{}', now() + $9::interval)
            ON CONFLICT (application_id, identity_id) WHERE kind = 'address-change'
            DO UPDATE SET challenge_id = excluded.challenge_id, provider_uid = excluded.provider_uid,
                          address = excluded.address, hash = excluded.hash, attempts = 0,
                          created_at = excluded.created_at, expires_at = excluded.expires_at
             WHERE excluded.created_at - proofs.created_at >= $10 OR proofs.address <> excluded.address
            RETURNING challenge_id
        )
        SELECT challenge_id, true, 0::float8 FROM issued
        UNION ALL
        SELECT challenge_id, false, greatest(extract(epoch FROM now() - created_at), 0)::float8
          FROM proofs
         WHERE application_id = $1 AND kind = 'address-change' AND identity_id = $8
           AND NOT EXISTS (SELECT 1 FROM issued)
        """)

    package func issue(_ challenge: NewChallenge, application: Application.ID) async throws -> IssuedChallenge {
        var (statement, holder) = (Self.issueChallenge, challenge.session)
        var ofCode: [Bind] = [.bytes(challenge.code), .bytes(challenge.network)]
        if case .addressChange(let identity) = challenge.purpose {
            (statement, holder, ofCode) = (Self.issueAddressChange, identity, [])
        }
        let binds: [Bind] = [
            .application(application), .uuid(challenge.id), .text(challenge.provider),
            .text(challenge.target.providerUid), .text(challenge.target.address.kind.rawValue),
            .text(challenge.target.address.value), .bytes(challenge.hash), .uuid(holder),
            .interval(challenge.lifetime), .interval(challenge.resendAfter),
        ]
        var row = try await one(statement, binds + ofCode)
        return IssuedChallenge(id: try row.next(), isNew: try row.next(), age: .seconds(try row.next(Double.self)))
    }

    private static let endAddressChange = Statement(
        .write, "DELETE FROM proofs WHERE application_id = $1 AND kind = 'address-change' AND identity_id = $2")

    package func endAddressChange(of identity: UUID, application: Application.ID) async throws {
        try await write(Self.endAddressChange, [.application(application), .uuid(identity)])
    }

    /// Adds a guess to those of the address in the last 24 hours, if there were none or a condition that follows holds.
    private static let countGuess: StaticString = """
            ON CONFLICT (application_id, subject)
            DO UPDATE SET wrong = excluded.wrong
                                  + CASE WHEN excluded.since - g.since < interval '24 hours' THEN g.wrong ELSE 0 END,
                          since = CASE WHEN excluded.since - g.since < interval '24 hours' THEN g.since
                                       ELSE excluded.since END
             WHERE excluded.since - g.since >= interval '24 hours'
        """

    /// Whether the wrong codes of the day lock all codes to the address; `g` is its row of `code_guesses`.
    static let codeLock: StaticString = """
            g.wrong >= 500
        """

    /// Whether they lock those codes that another network requested than the first one.
    static let codeElsewhereLock: StaticString = """
            g.wrong >= 100
        """

    /// Counts an attempt and compares the code; a wrong code counts against the address too.
    ///
    /// An alias has its own limit of attempts. An attempt through an alias is refused once a fifth of the address's
    /// daily limit of wrong codes is reached, so that requests from many networks can't block the owner's own codes.
    /// The row of the code is updated, and therefore locked, for an alias too: of two concurrent attempts with the
    /// right code, only one succeeds.
    private static let attempt = Statement(
        .write, earlierSessions,
        """
        , tried AS (
            UPDATE proofs p SET attempts = p.attempts + CASE WHEN p.challenge_id = $5 THEN 1 ELSE 0 END
             WHERE p.application_id = $1 AND p.kind = $6
               AND p.challenge_id = coalesce(
                   (SELECT a.code_id FROM code_aliases a WHERE a.application_id = $1 AND a.challenge_id = $5), $5)
               AND p.provider = $3 AND p.identity_id IS NOT DISTINCT FROM $7
               AND (p.session_id IS NULL OR p.session_id = $2 OR p.session_id IN (SELECT id FROM earlier))
               AND (p.attempts < 5 OR p.challenge_id <> $5) AND p.expires_at > now()
            RETURNING p.challenge_id = $5 AS is_own, p.provider_uid, p.address_kind, p.address,
                      coalesce(p.hash = $4 OR p.code_hash = sha256(uuid_send(p.challenge_id) || $8::bytea), false)
                      AS is_right
        ), aliased AS (
            UPDATE code_aliases a SET attempts = a.attempts + 1 FROM tried
             WHERE a.application_id = $1 AND a.challenge_id = $5 AND a.attempts < 5 AND NOT tried.is_own
            RETURNING 1
        ), judged AS (
            SELECT * FROM tried WHERE is_own OR EXISTS (SELECT 1 FROM aliased)
        ), own AS (
            INSERT INTO code_guesses AS g (application_id, subject, wrong)
            SELECT $1, sha256(convert_to(address_kind || ':' || address, 'UTF8')), CASE WHEN is_right THEN 0 ELSE 1 END
              FROM judged
             WHERE is_own
        """, countGuess,
        """
                OR NOT
        """, codeLock,
        """
            RETURNING subject
        ), others AS (
            INSERT INTO code_guesses AS g (application_id, subject, wrong)
            SELECT $1, sha256(convert_to(address_kind || ':' || address, 'UTF8')), CASE WHEN is_right THEN 0 ELSE 1 END
              FROM judged
             WHERE NOT is_own
        """, countGuess,
        """
                OR NOT
        """, codeElsewhereLock,
        """
            RETURNING subject
        ), counted AS (
            SELECT subject FROM own UNION ALL SELECT subject FROM others
        ), refused AS (
            SELECT (SELECT sha256(a.audit_key || uuid_send(a.uid)) FROM accounts a
                     WHERE a.application_id = $1 AND a.uid = coalesce(
                           (SELECT i.uid FROM identities i WHERE i.application_id = $1 AND i.id = $7),
                           (SELECT d.uid FROM addresses d
                             WHERE d.application_id = $1 AND d.kind = judged.address_kind
                               AND d.address = judged.address))) AS account,
                   CASE WHEN judged.is_right THEN 'codeLimit' ELSE 'code' END AS reason
              FROM (SELECT 1) AS always LEFT JOIN judged ON true
             WHERE judged.is_right IS NOT TRUE OR NOT EXISTS (SELECT 1 FROM counted)
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'sign-in.refused', account, jsonb_build_object('provider', $3::text, 'reason', reason)
              FROM refused WHERE account IS NOT NULL
        ), tallied AS (
            INSERT INTO refusals AS r (application_id, network, route, refusal)
            SELECT $1, $9, $10, reason FROM refused WHERE account IS NULL
            ON CONFLICT (application_id, minute, network, route, refusal) DO UPDATE SET count = r.count + 1
        )
        SELECT provider_uid, address_kind, address
          FROM judged
         WHERE is_right AND EXISTS (SELECT 1 FROM counted)
        """)

    package func attempt(_ answer: ChallengeResponse, application: Application.ID) async throws -> ChallengeTarget? {
        let rows = try await run(
            Self.attempt,
            [
                .application(application), .uuid(answer.session), .text(answer.provider), .bytes(answer.hash),
                .uuid(answer.id), .text(answer.purpose.kind), .uuid(answer.purpose.identity),
                .bytes(answer.code), .bytes(answer.source.network), .text(answer.source.route),
            ])
        guard var row = rows.first else { return nil }
        let providerUid: String = try row.next()
        guard let address = try row.nextAddress() else { return nil }
        return ChallengeTarget(providerUid: providerUid, address: address)
    }

    private static let endChallenges = Statement(
        .write,
        """
        WITH held AS MATERIALIZED (
            SELECT hash FROM proofs
             WHERE application_id = $1 AND kind = 'code' AND provider = $2 AND provider_uid = $3
               FOR UPDATE NOWAIT
        )
        DELETE FROM proofs
         WHERE application_id = $1 AND kind = 'code' AND provider = $2 AND provider_uid = $3
           AND (SELECT count(*) FROM held) > 0
        """)

    package func endChallenges(provider: String, providerUid: String, application: Application.ID) async throws {
        try await write(Self.endChallenges, [.application(application), .text(provider), .text(providerUid)])
    }
}

extension ChallengePurpose {
    /// The values of `proofs.kind` that challenges have.
    static let kinds = ["code", "address-change"]

    /// The value of `proofs.kind` for the challenge.
    fileprivate var kind: String {
        switch self {
        case .proof: "code"
        case .addressChange: "address-change"
        }
    }

    fileprivate var identity: UUID? {
        switch self {
        case .proof: nil
        case .addressChange(let identity): identity
        }
    }
}
