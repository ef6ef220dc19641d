package import Accounts
package import Postgres

extension SQLStore: RefreshStore {
    /// What a rotation reads of the refresh token `t` and of its session `s`.
    static let presentedColumns: StaticString = """
        t.session_id, s.uid, s.identity_id, s.methods, s.authenticated_at, s.expires_at, s.generation, s.is_borrowed,
        t.scopes, t.resources, t.claims, t.token_claims, t.issuer
        """

    /// Whether the client `$12` can present the refresh token `t` at the issuer `$13`, and its session `s` goes on.
    ///
    /// A renewed session accepts no earlier refresh token of the API, but all of its client. If the client needs it, the
    /// account's consent must contain all that the token was granted. The SQL is not complete: `consentScopes` and `)))`
    /// follow it.
    static let isPresentable: StaticString = """
        t.expires_at > now() AND s.ended_at IS NULL AND s.expires_at > now()
        AND (s.client_id IS NOT NULL OR coalesce(t.generation, s.generation) = s.generation)
        AND s.client_id IS NOT DISTINCT FROM $12 AND t.issuer IS NOT DISTINCT FROM $13
        AND (NOT $7 OR EXISTS (
            SELECT 1 FROM consents c
             WHERE c.application_id = $1 AND c.uid = s.uid AND c.client_id = $12 AND c.resources @> t.resources
               AND c.scopes @> (
        """

    /// The first columns that `Row.nextRefreshed` reads, with the commas between them and the others: `firstAddresses`,
    /// `refreshedScope` and `accountColumns` follow.
    static let refreshedSession: StaticString = """
        p.session_id, p.uid, p.authenticated_at, p.expires_at, p.generation, p.methods, i.provider, i.provider_uid,
        """

    static let refreshedScope: StaticString = """
        , i.profile::text, a.roles, a.claims::text, p.scopes, p.resources, p.claims, i.is_guest, p.is_borrowed,
        p.token_claims,
        """

    /// Rotates a refresh token by inserting its successor, or shows that the token is reused.
    ///
    /// A token's successor is derived from the token (`SessionRefresh`), so its row shows that the token was presented,
    /// and when; the row of the successor's own successor shows that the successor was presented. A repeated rotation
    /// changes nothing. If the session is renewed at the same time, the new token has the earlier generation and is
    /// therefore not accepted. A client's token that does not allow what the client asks for is not rotated, and one
    /// whose grant lacks the account's consent is refused. The lock of the session waits for the deletion of an idle guest.
    package static let rotate = Statement(
        .write,
        """
        WITH presented AS MATERIALIZED (
            SELECT
        """, presentedColumns, ", t.scopes IS NULL OR (", suitsTarget,
        """
                   ) AS is_suitable
              FROM refresh_tokens t
              JOIN sessions s ON s.application_id = $1 AND s.id = t.session_id
             WHERE t.application_id = $1 AND t.hash = $2 AND
        """, isPresentable, consentScopes,
        """
                   )))
               FOR KEY SHARE OF s
        ), successor AS MATERIALIZED (
            SELECT s.created_at < now() - $15::interval
                   AND (s.created_at < now() - $16::interval
                        OR EXISTS (
                            SELECT 1 FROM refresh_tokens n WHERE n.application_id = $1 AND n.hash = $14)) AS is_reuse
              FROM refresh_tokens s
             WHERE s.application_id = $1 AND s.hash = $10
        ), rotated AS (
            INSERT INTO refresh_tokens
                   (application_id, hash, session_id, generation, expires_at, scopes, resources, claims, token_claims,
                    issuer)
            SELECT $1, $10, session_id, generation, least(now() + $11::interval, expires_at), scopes, resources, claims,
                   token_claims, issuer
              FROM presented
             WHERE is_suitable AND NOT EXISTS (SELECT 1 FROM successor)
            ON CONFLICT DO NOTHING
        )
        SELECT coalesce((SELECT is_reuse FROM successor), false), p.is_suitable,
        """, refreshedSession, firstAddresses, refreshedScope, accountColumns,
        """
          FROM presented p
          JOIN identities i ON i.application_id = $1 AND i.id = p.identity_id
          JOIN accounts a ON a.application_id = $1 AND a.uid = p.uid
        """)

    /// Decides about a token: by the statement that concurrent calls share, and by one of its own if that has no answer.
    package func rotate(_ rotation: Rotation, application: Application.ID) async throws -> RefreshOutcome {
        let first = FirstRotation(presented: rotation.presented, successor: rotation.successor)
        if !isInTransaction, let terms = FirstRotation.Terms(of: rotation, application: application),
            let grant = try await translatingErrors({ try await joined.rotations.value(of: first, in: terms) })
        {
            count(.refreshes, in: application)
            return .succeeded(grant)
        }
        let rows = try await run(
            Self.rotate,
            [.application(application), .bytes(rotation.presented)] + rotation.target.binds + [
                .bytes(rotation.successor), .interval(rotation.lifetime), .text(rotation.client?.id),
                .text(rotation.client?.issuer), .bytes(rotation.afterSuccessor), .interval(rotation.reuseInterval),
                .interval(rotation.recovery),
            ])
        guard var row = rows.first else { return .refused }
        let (isReuse, isSuitable): (Bool, Bool) = (try row.next(), try row.next())
        let grant = try row.nextRefreshed()
        guard !isReuse else {
            // If this fails, the next call with the token tries it again.
            _ = try await transaction { store in
                try await store.end(
                    .one(grant.sessionID), of: grant.uid, because: .refreshReused, application: application)
            }
            return .reused
        }
        guard let scope = grant.clientScope, !isSuitable else {
            count(.refreshes, in: application)
            return .succeeded(grant)
        }
        return .unsuitable(scope, isBorrowed: grant.isBorrowed)
    }
}
