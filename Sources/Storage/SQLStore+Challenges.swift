package import Accounts
package import Foundation
internal import Postgres
package import ProviderKit

extension SQLStore {
    /// Of two wishes at once one issues the code; the other finds it, or decides again where it can't see it yet.
    private static let issueChallenge = Statement(
        .write,
        """
        WITH issued AS (
            INSERT INTO proofs
                   (application_id, kind, challenge_id, provider, provider_uid, address_kind, address, hash, session_id,
                    methods, expires_at)
            VALUES ($1, 'code', $2, $3, $4, $5, $6, $7, $8, '{}', now() + $9::interval)
            ON CONFLICT (application_id, provider, provider_uid,
                         coalesce(session_id, '00000000-0000-0000-0000-000000000000')) WHERE kind = 'code'
            DO UPDATE SET challenge_id = excluded.challenge_id, hash = excluded.hash, attempts = 0, created_at = now(),
                          expires_at = excluded.expires_at
             WHERE proofs.created_at <= now() - $10::interval
            RETURNING challenge_id, created_at
        )
        SELECT challenge_id, true, 0::float8 FROM issued
        UNION ALL
        SELECT challenge_id, false, greatest(extract(epoch FROM now() - created_at), 0)::float8
          FROM proofs
         WHERE application_id = $1 AND kind = 'code' AND provider = $3 AND provider_uid = $4
           AND session_id IS NOT DISTINCT FROM $8 AND NOT EXISTS (SELECT FROM issued)
        """)

    package func issue(_ challenge: NewChallenge, application: Int32) async throws -> IssuedChallenge {
        if case .addressChange(let identity) = challenge.purpose {
            return try await issue(challenge, changing: identity, application: application)
        }
        let rows = try await run(
            Self.issueChallenge,
            [
                .int4(application), .uuid(challenge.id), .text(challenge.provider),
                .text(challenge.target.providerUid), .text(challenge.target.address.kind.rawValue),
                .text(challenge.target.address.value), .bytes(challenge.hash), .uuid(challenge.session),
                .interval(challenge.lifetime), .interval(challenge.resendAfter),
            ])
        var row = try rows.firstOrConflict()
        return IssuedChallenge(id: try row.next(), isNew: try row.next(), age: .seconds(try row.next(Double.self)))
    }

    /// Likewise, one for each identity; a wish for another address needs no patience.
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
                          address = excluded.address, hash = excluded.hash, attempts = 0, created_at = now(),
                          expires_at = excluded.expires_at
             WHERE proofs.created_at <= now() - $10::interval OR proofs.address <> excluded.address
            RETURNING challenge_id
        )
        SELECT challenge_id, true, 0::float8 FROM issued
        UNION ALL
        SELECT challenge_id, false, greatest(extract(epoch FROM now() - created_at), 0)::float8
          FROM proofs
         WHERE application_id = $1 AND kind = 'address-change' AND identity_id = $8
           AND NOT EXISTS (SELECT FROM issued)
        """)

    private func issue(
        _ challenge: NewChallenge, changing identity: UUID, application: Int32
    ) async throws -> IssuedChallenge {
        let rows = try await run(
            Self.issueAddressChange,
            [
                .int4(application), .uuid(challenge.id), .text(challenge.provider),
                .text(challenge.target.providerUid), .text(challenge.target.address.kind.rawValue),
                .text(challenge.target.address.value), .bytes(challenge.hash), .uuid(identity),
                .interval(challenge.lifetime), .interval(challenge.resendAfter),
            ])
        var row = try rows.firstOrConflict()
        return IssuedChallenge(id: try row.next(), isNew: try row.next(), age: .seconds(try row.next(Double.self)))
    }

    private static let endAddressChange = Statement(
        .write, "DELETE FROM proofs WHERE application_id = $1 AND kind = 'address-change' AND identity_id = $2")

    package func endAddressChange(of identity: UUID, application: Int32) async throws {
        _ = try await run(Self.endAddressChange, [.int4(application), .uuid(identity)])
    }

    /// The attempt is counted before it is judged; a wrong one counts against the address too.
    private static let attempt = Statement(
        .write,
        """
        WITH tried AS (
            UPDATE proofs SET attempts = attempts + 1
             WHERE application_id = $1 AND kind = $6 AND challenge_id = $2 AND provider = $3
               AND identity_id IS NOT DISTINCT FROM $7 AND may_finish($1, $5, session_id) AND attempts < 5 AND expires_at > now()
            RETURNING provider, provider_uid, address_kind, address, hash = $4 AS is_right
        ), counted AS (
            INSERT INTO code_guesses (application_id, subject, wrong)
            SELECT $1, sha256(convert_to(address_kind || ':' || address, 'UTF8')), CASE WHEN is_right THEN 0 ELSE 1 END
              FROM tried
            ON CONFLICT (application_id, subject)
            DO UPDATE SET wrong = excluded.wrong
                                  + CASE WHEN code_guesses.since > now() - interval '24 hours'
                                         THEN code_guesses.wrong ELSE 0 END,
                          since = CASE WHEN code_guesses.since > now() - interval '24 hours'
                                       THEN code_guesses.since ELSE now() END
             WHERE code_guesses.since <= now() - interval '24 hours' OR code_guesses.wrong < 500
            RETURNING subject
        ), refused AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'sign-in.refused',
                   (SELECT sha256(a.audit_key || uuid_send(a.uid)) FROM accounts a
                     WHERE a.application_id = $1 AND a.uid = coalesce(
                           (SELECT i.uid FROM identities i WHERE i.application_id = $1 AND i.id = $7),
                           (SELECT d.uid FROM addresses d
                             WHERE d.application_id = $1 AND d.kind = tried.address_kind
                               AND d.address = tried.address))),
                   jsonb_build_object(
                       'provider', $3::text, 'reason', CASE WHEN tried.is_right THEN 'codeLimit' ELSE 'code' END)
              FROM (SELECT) AS always LEFT JOIN tried ON true
             WHERE tried.is_right IS NOT TRUE OR NOT EXISTS (SELECT FROM counted)
        )
        SELECT provider_uid, address_kind, address
          FROM tried
         WHERE is_right AND EXISTS (SELECT FROM counted)
        """)

    package func attempt(_ answer: ChallengeAnswer, application: Int32) async throws -> ChallengeTarget? {
        let rows = try await run(
            Self.attempt,
            [
                .int4(application), .uuid(answer.id), .text(answer.provider), .bytes(answer.hash),
                .uuid(answer.session), .text(answer.purpose.kind), .uuid(answer.purpose.identity),
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
            SELECT FROM proofs
             WHERE application_id = $1 AND kind = 'code' AND provider = $2 AND provider_uid = $3
               FOR UPDATE NOWAIT
        )
        DELETE FROM proofs
         WHERE application_id = $1 AND kind = 'code' AND provider = $2 AND provider_uid = $3
           AND (SELECT count(*) FROM held) > 0
        """)

    package func endChallenges(provider: String, providerUid: String, application: Int32) async throws {
        _ = try await run(Self.endChallenges, [.int4(application), .text(provider), .text(providerUid)])
    }
}

extension ChallengePurpose {
    /// Every `proofs.kind` of a challenge.
    static let kinds = ["code", "address-change"]

    /// `proofs.kind`.
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
