package import Accounts
internal import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: ProofStore {
    private static let issue = Statement(
        .write,
        """
        INSERT INTO proofs
               (application_id, kind, hash, provider, provider_uid, address, uid, registration_id, methods, expires_at,
                session_id, password_hash, address_kind, invitation)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + $10::interval, $11, $12, $13, $14)
        """)

    package func issue(_ new: NewProof, application: Application.ID) async throws {
        let proof = new.proof
        try await write(
            Self.issue,
            [
                .application(application), .text(new.kind.rawValue), .bytes(new.token.hash), .text(proof.provider),
                .text(proof.providerUid), .text(proof.address?.value), .uuid(proof.uid), .uuid(proof.registration),
                .texts(proof.methods), .interval(new.lifetime), .uuid(new.session), .text(proof.password?.phc),
                .text((proof.address?.kind ?? .email).rawValue), .json(try proof.invitation?.json.jsonText()),
            ])
    }

    private static let peek = Statement(
        .read,
        """
        SELECT provider, provider_uid, address_kind, address, uid, registration_id, methods, password_hash, invitation::text
          FROM proofs
         WHERE application_id = $1 AND kind = $2 AND hash = $3 AND expires_at > now()
        """)

    package func peek(_ kind: ProofKind, hash: [UInt8], application: Application.ID) async throws -> Proof? {
        try await run(Self.peek, [.application(application), .text(kind.rawValue), .bytes(hash)]).first?.proof()
    }

    /// Consumes a proof and deletes all proofs of the same kind for the same subject.
    ///
    /// The rows are locked in the order of their hashes, so that concurrent calls with two of these proofs don't
    /// deadlock.
    private static let consume = Statement(
        .write,
        """
        WITH presented AS MATERIALIZED (
            SELECT provider, provider_uid FROM proofs
             WHERE application_id = $1 AND kind = $2 AND hash = $3 AND expires_at > now()
        ), held AS MATERIALIZED (
            SELECT hash FROM proofs
             WHERE application_id = $1 AND kind = $2
               AND provider = (SELECT provider FROM presented) AND provider_uid = (SELECT provider_uid FROM presented)
             ORDER BY hash
               FOR UPDATE
        ), used AS (
            DELETE FROM proofs p USING held
             WHERE p.application_id = $1 AND p.kind = $2 AND p.hash = held.hash
            RETURNING p.*
        )
        SELECT provider, provider_uid, address_kind, address, uid, registration_id, methods, password_hash,
               invitation::text
          FROM used WHERE hash = $3
        """)

    package func consume(_ kind: ProofKind, hash: [UInt8], application: Application.ID) async throws -> Proof? {
        try await run(Self.consume, [.application(application), .text(kind.rawValue), .bytes(hash)]).first?.proof()
    }
}

extension SQLStore {
    /// The sessions that the session `$2` replaces or authenticated again from, directly or indirectly, as the common
    /// table expression `earlier`.
    ///
    /// The session may finish what they started. The recursion is nested, because Citus refuses `WITH RECURSIVE` at the
    /// top of a statement that inserts rows.
    static let earlierSessions: StaticString = """
        WITH earlier AS (
            WITH RECURSIVE same AS (
                SELECT $2::uuid AS id
                UNION
                SELECT s.continues FROM same JOIN sessions s ON s.application_id = $1 AND s.id = same.id
                 WHERE s.continues IS NOT NULL
            )
            SELECT unnest(ARRAY[continues, resumes]) AS id FROM sessions
             WHERE application_id = $1 AND id = ANY (ARRAY(SELECT id FROM same))
        )
        """
}

extension SQLStore: MergeTicketStore {
    private static let lockTicket = Statement(
        .write, earlierSessions,
        """
        SELECT provider, provider_uid, address_kind, address, uid, registration_id, methods, password_hash, invitation::text
          FROM proofs
         WHERE application_id = $1 AND kind = 'merge' AND hash = $3 AND expires_at > now()
           AND (session_id IS NULL OR session_id = $2 OR session_id IN (SELECT id FROM earlier))
           FOR UPDATE
        """)

    private static let lockAccountsOfTicket = Statement(
        .write,
        """
        SELECT uid FROM accounts
         WHERE application_id = $1
           AND uid = ANY ($2::uuid[] || ARRAY(
                   SELECT p.uid FROM proofs p WHERE p.application_id = $1 AND p.kind = 'merge' AND p.hash = $3))
         ORDER BY uid
           FOR NO KEY UPDATE
        """)

    package func lockMerge(byTicket hash: [UInt8], of principal: Principal) async throws -> TicketedMerge? {
        let application = principal.application.id
        let answers = try await run(
            [
                (Self.lockTicket, [.application(application), .uuid(principal.sessionID), .bytes(hash)]),
                (Self.lockAccountsOfTicket, [.application(application), .uuids([principal.uid]), .bytes(hash)]),
                (Self.lockSession, [.application(application), .uuid(principal.sessionID), .uuid(principal.uid)]),
            ] + Self.selectingSides([principal.uid], ticket: hash, application))
        guard let proof = try answers[0].first?.proof(), var session = answers[2].first else { return nil }
        return TicketedMerge(
            proof: proof, identity: try session.next(), reading: try Self.mergeReading(in: answers[3...]))
    }

    private static let useTicket = Statement(
        .write, "DELETE FROM proofs WHERE application_id = $1 AND kind = 'merge' AND hash = $2 RETURNING uid")

    package func useMergeTicket(_ hash: [UInt8], application: Application.ID) async throws {
        try await writeOrConflict(Self.useTicket, [.application(application), .bytes(hash)])
    }
}

extension SQLStore {
    private static let discard = Statement(
        .write,
        """
        WITH held AS MATERIALIZED (
            SELECT hash FROM proofs
             WHERE application_id = $1 AND kind = $2 AND provider = $3 AND provider_uid = $4
               FOR UPDATE NOWAIT
        )
        DELETE FROM proofs
         WHERE application_id = $1 AND kind = $2 AND provider = $3 AND provider_uid = $4
           AND (SELECT count(*) FROM held) > 0
        """)

    package func discard(
        _ kind: ProofKind, provider: String, providerUid: String, application: Application.ID
    ) async throws {
        try await write(
            Self.discard, [.application(application), .text(kind.rawValue), .text(provider), .text(providerUid)])
    }
}

extension Row {
    fileprivate func proof() throws -> Proof {
        var row = self
        return Proof(
            provider: try row.next(), providerUid: try row.next(), address: try row.nextAddress(), uid: try row.next(),
            registration: try row.next(), methods: try row.next(),
            password: try row.next(String?.self).map(PasswordHash.init(phc:)),
            invitation: try row.next(String?.self).map { Invitation(json: try JSONValue(jsonText: $0)) })
    }
}

extension Invitation {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "roles": .array(access.roles.map { .string($0) }), "claims": .object(access.claims),
        ]
        members["displayName"] = displayName.map { .string($0) }
        return .object(members)
    }

    fileprivate init(json: JSONValue) {
        self.init(
            displayName: json["displayName"].string,
            access: AccountAccess(
                roles: json["roles"].array?.compactMap(\.string) ?? [], claims: json["claims"].object ?? [:]))
    }
}
