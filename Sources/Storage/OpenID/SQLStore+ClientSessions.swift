package import Accounts
package import Foundation
package import OpenID
package import Postgres

extension SQLStore: CodeStore, ClientSessionStore {
    /// Consumes a code and, if everything fits, opens the client's session or moves the one that it has.
    ///
    /// It locks the code, then the account, then the browser session, which therefore cannot end before the client's
    /// session exists. The account must still allow a third-party client what the code is for.
    ///
    /// If two codes of one browser session are redeemed at once, a unique index refuses the second session, and the whole
    /// statement is repeated. The code records the session, so that a replay ends no other.
    package static let useCode = Statement(
        .write,
        """
        WITH code AS MATERIALIZED (
            SELECT client_id, redirect_uri, code_challenge, nonce, issuer, scopes, resources, claims, token_claims, uid,
                   session_id, client_session, redeemed_at, redeemed_at IS NULL AND expires_at > now() AS is_live,
                   'offline_access' = ANY (scopes) AND 'offline_access' = ANY ($14) AS is_offline,
        """, consentScopes,
        """
                   AS consent_scopes
              FROM authorization_codes t
             WHERE application_id = $1 AND hash = $2 AND ($3 OR client_id = $4)
               FOR UPDATE
        ), account AS MATERIALIZED (
            SELECT uid, audit_key FROM accounts
             WHERE application_id = $1 AND uid = (SELECT uid FROM code)
               AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
               FOR SHARE
        ), parent AS MATERIALIZED (
            SELECT id, uid, identity_id, methods, authenticated_at, device, address,
                   least(expires_at, last_used_at + idle) AS expires_at
              FROM sessions
             WHERE application_id = $1 AND id = (SELECT session_id FROM code) AND EXISTS (SELECT 1 FROM account)
               AND ended_at IS NULL AND expires_at > now() AND (idle IS NULL OR last_used_at > now() - idle)
               FOR SHARE
        ), consent AS MATERIALIZED (
            SELECT scopes, resources FROM consents
             WHERE application_id = $1 AND uid = (SELECT uid FROM account) AND client_id = $4 AND $15
               FOR SHARE
        ), granted AS MATERIALIZED (
            SELECT parent.id AS parent_id, parent.uid, parent.identity_id, parent.methods, parent.authenticated_at,
                   parent.device, parent.address, i.provider, i.provider_uid, i.profile, i.is_guest, code.is_offline,
                   CASE WHEN code.is_offline THEN now() + $9::interval ELSE parent.expires_at END AS ends_at,
                   now() AS now, code.scopes, code.resources, code.claims, code.token_claims, code.nonce,
        """, suitsTarget,
        """
                   AS is_suitable
              FROM code, parent, identities i
             WHERE i.application_id = $1 AND i.id = parent.identity_id
               AND code.is_live AND code.client_id = $4 AND code.issuer = $5 AND code.redirect_uri = $6
               AND code.code_challenge IS NOT DISTINCT FROM $7
               AND (NOT $15 OR EXISTS (SELECT 1 FROM consent c
                                        WHERE c.scopes @> code.consent_scopes AND c.resources @> code.resources))
        ), existing AS MATERIALIZED (
            SELECT id FROM sessions
             WHERE application_id = $1 AND parent_id = (SELECT parent_id FROM granted) AND client_id = $4
               AND issuer = $5 AND ended_at IS NULL
               FOR UPDATE
        ), moved AS (
            UPDATE sessions s
               SET identity_id = g.identity_id, authenticated_at = g.authenticated_at, methods = g.methods,
                   device = g.device, address = g.address, last_used_at = g.now,
                   expires_at = greatest(s.expires_at, g.ends_at),
                   outlives_parent = s.outlives_parent OR g.is_offline
              FROM granted g, existing e
             WHERE s.application_id = $1 AND s.id = e.id AND g.is_suitable
            RETURNING s.id, s.expires_at, s.generation
        ), opened AS (
            INSERT INTO sessions
                   (application_id, id, uid, identity_id, methods, authenticated_at, device, address, expires_at, kind,
                    parent_id, client_id, issuer, outlives_parent, last_used_at)
            SELECT $1, $8, uid, identity_id, methods, authenticated_at, device, address, ends_at, 'client',
                   parent_id, $4, $5, is_offline, now
              FROM granted
             WHERE is_suitable AND NOT EXISTS (SELECT 1 FROM existing)
            RETURNING id, expires_at, generation
        ), session AS MATERIALIZED (
            SELECT id, expires_at, generation FROM moved
            UNION ALL
            SELECT id, expires_at, generation FROM opened
        ), used AS (
            UPDATE authorization_codes r SET redeemed_at = now(), client_session = session.id
              FROM code LEFT JOIN session ON true
             WHERE r.application_id = $1 AND r.hash = $2 AND code.redeemed_at IS NULL
        ), token AS (
            INSERT INTO refresh_tokens
                   (application_id, hash, session_id, generation, expires_at, scopes, resources, claims, token_claims,
                    issuer)
            SELECT $1, $10, session.id, session.generation, least(now() + $18::interval, session.expires_at),
                   granted.scopes, granted.resources, granted.claims, granted.token_claims, $5
              FROM granted, session
             WHERE granted.is_offline
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'session.opened', sha256(account.audit_key || uuid_send(account.uid)),
                   session_pseudonym(account.audit_key, opened.id),
                   jsonb_build_object('kind', 'client', 'client', $4::text)
              FROM account, opened
        )
        SELECT coalesce(code.redeemed_at < now() - $19::interval, false), former.id, former.uid, granted.scopes,
               granted.resources, session.id, granted.uid, granted.authenticated_at, session.expires_at,
               session.generation, granted.methods, granted.provider, granted.provider_uid,
        """, firstAddresses,
        """
               , granted.profile::text, granted.scopes, granted.resources, granted.claims, granted.is_guest,
               granted.nonce, granted.token_claims,
        """, accountColumns,
        """
          FROM code
          LEFT JOIN sessions former
            ON former.application_id = $1 AND former.id = code.client_session AND former.ended_at IS NULL
          LEFT JOIN granted ON true
          LEFT JOIN session ON true
          LEFT JOIN accounts a ON a.application_id = $1 AND a.uid = granted.uid
        """)

    package func use(_ code: CodeUse, application: Application.ID) async throws -> CodeUseOutcome {
        let binds: [Bind] =
            [
                .application(application), .bytes(code.code), .bool(!code.client.isPublic), .text(code.client.id),
                .text(code.issuer), .text(code.redirectURI), .text(code.codeChallenge), .uuid(code.session),
                .interval(code.sessionLifetime), .bytes(code.refreshToken.hash),
            ] + code.target.binds + [.interval(code.refreshLifetime), .interval(code.tolerance)]
        guard var row = try await run(Self.useCode, binds).first else { return .refused }
        let isLateReplay: Bool = try row.next()
        let former: UUID? = try row.next()
        let owner: UUID? = try row.next()
        let (scopes, resources): ([String]?, [String]?) = (try row.next(), try row.next())
        var probe = row
        guard try probe.next(UUID?.self) != nil else {
            if let scopes, let resources { return .unsuitable(scopes: scopes, resources: resources) }
            guard isLateReplay, let former, let owner else { return .refused }
            return .replayed(session: former, of: owner)
        }
        let grant = try row.nextGrant()
        guard var scope = try row.nextClientScope() else { return .refused }
        let nonce: String? = try row.next()
        scope.tokenClaims = try row.next()
        scope.account = try row.nextAccountClaims(of: grant)
        return .opened(OpenedClientSession(grant: grant, scope: scope, nonce: nonce))
    }
}

// MARK: - Sessions of clients

extension SQLStore {
    private static let endClientSession = Statement(
        .write,
        """
        WITH ended AS (
            UPDATE sessions SET ended_at = now(), end_reason = $3
             WHERE application_id = $1 AND client_id = $5 AND issuer = $6 AND ended_at IS NULL
               AND id = coalesce($4, (SELECT session_id FROM refresh_tokens WHERE application_id = $1 AND hash = $2))
            RETURNING id, uid, end_reason, kind, client_id, issuer
        ), concerned AS MATERIALIZED (
            SELECT id, uid, client_id, issuer, false AS is_late FROM ended
        """, announceEnds)

    package func endClientSession(
        _ session: UUID?, orOfRefreshToken hash: [UInt8]?, client: String, issuer: String, application: Application.ID
    ) async throws {
        let binds: [Bind] = [
            .application(application), .bytes(hash), .text(SessionEnd.clientRevoked.rawValue), .uuid(session),
            .text(client), .text(issuer),
        ]
        try noteEnded(try await run(Self.endClientSession, binds + receivers(application)), application: application)
    }

    private static let selectClientSession = Statement(
        .read,
        """
        SELECT s.id, s.uid, s.client_id, t.scopes, t.expires_at
          FROM refresh_tokens t JOIN sessions s ON s.application_id = $1 AND s.id = t.session_id
         WHERE t.application_id = $1 AND t.hash = $2 AND t.issuer = $3 AND t.expires_at > now()
           AND s.client_id IS NOT NULL AND s.ended_at IS NULL AND s.expires_at > now()
           AND coalesce(t.generation, s.generation) = s.generation
           AND NOT EXISTS (SELECT 1 FROM refresh_tokens n WHERE n.application_id = $1 AND n.hash = $4)
        """)

    package func clientSession(
        ofRefreshToken hash: [UInt8], unlessRotatedTo successor: [UInt8], issuer: String, application: Application.ID
    ) async throws -> RefreshableSession? {
        let binds: [Bind] = [.application(application), .bytes(hash), .text(issuer), .bytes(successor)]
        guard var row = try await run(Self.selectClientSession, binds).first else { return nil }
        return RefreshableSession(
            id: try row.next(), uid: try row.next(), clientID: try row.next(), scopes: try row.next(),
            expiresAt: try row.next())
    }
}
