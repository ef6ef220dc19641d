package import Accounts
internal import Foundation
package import OpenID
package import Postgres

extension SQLStore: CodeStore {
    /// Consumes a code and, if everything fits, opens the client's session or moves the one that it has.
    ///
    /// It locks the code, then the account, then the browser session, which therefore cannot end before the client's
    /// session exists. The account must still allow a third-party client what the code is for.
    ///
    /// If two codes of one browser session are redeemed at once, a unique index refuses the second session, and the whole
    /// statement is repeated. The code records the session, so that a replay ends no other.
    ///
    /// If the browser session has got another identity while the statement waited (`stale`), the statement may not see
    /// that identity. It then changes nothing, and must be repeated.
    package static let useCode = Statement(
        .write, presentedCode, consentScopes, partiesOfCode, suitsTarget, fittingCode, sessionInBrowser, redeemedCode,
        openedByCode, firstAddresses, openedFor, accountColumns, parts)

    /// Consumes a code in the same way for an installation of an app, whose session ends with no browser session.
    ///
    /// It then locks the installation, and the session that this has. A session of the same account moves; one of another
    /// account is replaced, and the caller ends it. An installation whose session has just ended, or that has had no
    /// sign-in in time, gets none.
    ///
    /// If another redemption has opened the session while this one waited for the installation, the statement cannot see
    /// the session, and must be repeated.
    static let useInstanceCode = Statement(
        .write, presentedCode, consentScopes, partiesOfCode, suitsTarget, fittingCode, sessionOfInstance, redeemedCode,
        replacedByCode, openedByCode, firstAddresses, openedFor, accountColumns, parts)

    package func use(_ code: CodeUse, application: Application.ID) async throws -> CodeUseOutcome {
        let binds: [Bind] =
            [.application(application), .bytes(code.code)] + code.target.binds + [
                .bool(!code.client.isPublic), .text(code.client.id), .text(code.issuer), .text(code.redirectURI),
                .text(code.codeChallenge), .uuid(code.session), .interval(code.sessionLifetime),
                .bytes(code.refreshToken.hash), .interval(code.refreshLifetime), .interval(code.tolerance),
            ]
        guard let idle = code.instanceIdle else {
            guard var row = try await run(Self.useCode, binds).first else { return .refused }
            return try row.nextCodeUse()
        }
        guard var row = try await run(Self.useInstanceCode, binds + [.interval(idle)]).first else { return .refused }
        guard try !row.next(Bool.self) else { throw StoreConflict() }
        let (replaced, owner): (UUID?, UUID?) = (try row.next(), try row.next())
        var outcome = try row.nextCodeUse()
        if case .opened(var opened) = outcome, let replaced, let owner {
            opened.replaced = (replaced, owner)
            outcome = .opened(opened)
        }
        return outcome
    }
}

// MARK: - Statements

extension SQLStore {
    private static let presentedCode: StaticString = """
        WITH code AS MATERIALIZED (
            SELECT client_id, redirect_uri, code_challenge, nonce, issuer, scopes, resources, claims, token_claims, uid,
                   session_id, client_session, redeemed_at, redeemed_at IS NULL AND expires_at > now() AS is_live,
                   'offline_access' = ANY (scopes) AND 'offline_access' = ANY ($6) AS is_offline,
        """

    private static let partiesOfCode: StaticString = """
                   AS consent_scopes
              FROM authorization_codes t
             WHERE application_id = $1 AND hash = $2 AND ($10 OR client_id = $11)
               FOR UPDATE
        ), account AS MATERIALIZED (
            SELECT uid, audit_key FROM accounts
             WHERE application_id = $1 AND uid = (SELECT uid FROM code)
               AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
               FOR SHARE
        ), parent AS MATERIALIZED (
            SELECT id, uid, identity_id, methods, authenticated_at, is_borrowed, device, address,
                   least(expires_at, last_used_at + idle) AS expires_at
              FROM sessions
             WHERE application_id = $1 AND id = (SELECT session_id FROM code) AND EXISTS (SELECT 1 FROM account)
               AND ended_at IS NULL AND expires_at > now() AND (idle IS NULL OR last_used_at > now() - idle)
               FOR SHARE
        ), stale AS MATERIALIZED (
            SELECT s.id FROM parent JOIN sessions s ON s.application_id = $1 AND s.id = parent.id
             WHERE s.identity_id <> parent.identity_id
        ), consent AS MATERIALIZED (
            SELECT scopes, resources FROM consents
             WHERE application_id = $1 AND uid = (SELECT uid FROM account) AND client_id = $11 AND $7
               FOR SHARE
        ), granted AS MATERIALIZED (
            SELECT parent.id AS parent_id, parent.uid, parent.identity_id, parent.methods, parent.authenticated_at,
                   parent.is_borrowed, parent.device, parent.address, i.provider, i.provider_uid, i.profile, i.is_guest,
                   code.is_offline,
                   CASE WHEN code.is_offline THEN now() + $16::interval ELSE parent.expires_at END AS ends_at,
                   now() AS now, code.scopes, code.resources, code.claims, code.token_claims, code.nonce,
        """

    private static let fittingCode: StaticString = """
                   AS is_suitable
              FROM code, parent, identities i
             WHERE i.application_id = $1 AND i.id = parent.identity_id AND NOT EXISTS (SELECT 1 FROM stale)
               AND code.is_live AND code.client_id = $11 AND code.issuer = $12 AND code.redirect_uri = $13
               AND code.code_challenge IS NOT DISTINCT FROM $14
               AND (NOT $7 OR EXISTS (SELECT 1 FROM consent c
                                        WHERE c.scopes @> code.consent_scopes AND c.resources @> code.resources))
        """

    private static let sessionInBrowser: StaticString = """
        ), existing AS MATERIALIZED (
            SELECT id FROM sessions
             WHERE application_id = $1 AND parent_id = (SELECT parent_id FROM granted) AND client_id = $11
               AND issuer = $12 AND ended_at IS NULL
               FOR UPDATE
        ), moved AS (
            UPDATE sessions s
               SET identity_id = g.identity_id, authenticated_at = g.authenticated_at, methods = g.methods,
                   is_borrowed = g.is_borrowed, device = g.device, address = g.address, last_used_at = g.now,
                   expires_at = greatest(s.expires_at, g.ends_at),
                   outlives_parent = s.outlives_parent OR g.is_offline
              FROM granted g, existing e
             WHERE s.application_id = $1 AND s.id = e.id AND g.is_suitable
            RETURNING s.id, s.expires_at, s.generation
        ), opened AS (
            INSERT INTO sessions
                   (application_id, id, uid, identity_id, methods, authenticated_at, is_borrowed, device, address,
                    expires_at, kind, parent_id, client_id, issuer, outlives_parent, last_used_at)
            SELECT $1, $15, uid, identity_id, methods, authenticated_at, is_borrowed, device, address, ends_at,
                   'client', parent_id, $11, $12, is_offline, now
              FROM granted
             WHERE is_suitable AND NOT EXISTS (SELECT 1 FROM existing)
            RETURNING id, expires_at, generation
        """

    private static let sessionOfInstance: StaticString = """
        ), instance AS MATERIALIZED (
            SELECT session_id, expires_at > now() AS is_awaited FROM clients
             WHERE application_id = $1 AND client_id = $11 AND deleted_at IS NULL
               AND EXISTS (SELECT 1 FROM granted WHERE is_suitable)
               FOR UPDATE
        ), bound AS MATERIALIZED (
            SELECT id, uid FROM sessions
             WHERE application_id = $1 AND id = (SELECT session_id FROM instance) AND ended_at IS NULL
               AND expires_at > now()
               FOR UPDATE
        ), existing AS MATERIALIZED (
            SELECT id, now() + $20::interval AS ends_at FROM bound WHERE uid = (SELECT uid FROM granted)
        ), moved AS (
            UPDATE sessions s
               SET identity_id = g.identity_id, authenticated_at = g.authenticated_at, methods = g.methods,
                   is_borrowed = g.is_borrowed, device = g.device, address = g.address, last_used_at = g.now,
                   expires_at = e.ends_at
              FROM granted g, existing e
             WHERE s.application_id = $1 AND s.id = e.id
            RETURNING s.id, s.expires_at, s.generation
        ), opened AS (
            INSERT INTO sessions
                   (application_id, id, uid, identity_id, methods, authenticated_at, is_borrowed, device, address,
                    expires_at, kind, client_id, issuer, last_used_at)
            SELECT $1, $15, g.uid, g.identity_id, g.methods, g.authenticated_at, g.is_borrowed, g.device, g.address,
                   g.now + $20::interval, 'client', $11, $12, g.now
              FROM granted g, instance
             WHERE NOT EXISTS (SELECT 1 FROM existing)
               AND (instance.session_id IS NULL AND instance.is_awaited OR EXISTS (SELECT 1 FROM bound))
            RETURNING id, expires_at, generation
        ), noted AS (
            UPDATE clients c SET uid = granted.uid, session_id = opened.id, slot = NULL
              FROM granted, opened
             WHERE c.application_id = $1 AND c.client_id = $11
        ), announced AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'instance.bound', sha256(account.audit_key || uuid_send(account.uid)),
                   session_pseudonym(account.audit_key, opened.id), jsonb_build_object('client', $11::text)
              FROM account, opened
        """

    private static let redeemedCode: StaticString = """
        ), session AS MATERIALIZED (
            SELECT id, expires_at, generation FROM moved
            UNION ALL
            SELECT id, expires_at, generation FROM opened
        ), used AS (
            UPDATE authorization_codes r SET redeemed_at = now(), client_session = session.id
              FROM code LEFT JOIN session ON true
             WHERE r.application_id = $1 AND r.hash = $2 AND code.redeemed_at IS NULL
               AND NOT EXISTS (SELECT 1 FROM stale)
        ), token AS (
            INSERT INTO refresh_tokens
                   (application_id, hash, session_id, generation, expires_at, scopes, resources, claims, token_claims,
                    issuer)
            SELECT $1, $17, session.id, session.generation, least(now() + $18::interval, session.expires_at),
                   granted.scopes, granted.resources, granted.claims, granted.token_claims, $12
              FROM granted, session
             WHERE granted.is_offline
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'session.opened', sha256(account.audit_key || uuid_send(account.uid)),
                   session_pseudonym(account.audit_key, opened.id),
                   jsonb_build_object('kind', 'client', 'client', $11::text)
              FROM account, opened
        )
        SELECT
        """

    /// Whether the installation's session is invisible, and the session that the new one replaces, with its account.
    private static let replacedByCode: StaticString = """
               EXISTS (SELECT 1 FROM instance i
                        WHERE i.session_id IS NOT NULL
                          AND NOT EXISTS (SELECT 1 FROM sessions s
                                           WHERE s.application_id = $1 AND s.id = i.session_id)),
               (SELECT bound.id FROM bound, opened), (SELECT bound.uid FROM bound, opened),
        """

    private static let openedByCode: StaticString = """
               EXISTS (SELECT 1 FROM stale), coalesce(code.redeemed_at < now() - $19::interval, false), former.id,
               former.uid, granted.scopes, granted.resources, granted.is_borrowed, session.id, granted.uid, granted.authenticated_at,
               session.expires_at, session.generation, granted.methods, granted.provider, granted.provider_uid,
        """

    private static let openedFor: StaticString = """
               , granted.profile::text, a.roles, a.claims::text, granted.scopes, granted.resources, granted.claims,
               granted.is_guest, granted.nonce, granted.token_claims,
        """

    private static let parts: StaticString = """
          FROM code
          LEFT JOIN sessions former
            ON former.application_id = $1 AND former.id = code.client_session AND former.ended_at IS NULL
          LEFT JOIN granted ON true
          LEFT JOIN session ON true
          LEFT JOIN accounts a ON a.application_id = $1 AND a.uid = granted.uid
        """
}

extension Row {
    /// The columns from `openedByCode` on.
    fileprivate mutating func nextCodeUse() throws -> CodeUseOutcome {
        guard try !next(Bool.self) else { throw StoreConflict() }
        let isLateReplay: Bool = try next()
        let former: UUID? = try next()
        let owner: UUID? = try next()
        let (scopes, resources): ([String]?, [String]?) = (try next(), try next())
        let isBorrowed = try next(Bool?.self) ?? false
        var probe = self
        guard try probe.next(UUID?.self) != nil else {
            if let scopes, let resources {
                let scope = ClientScope(scopes: scopes, resources: resources, claims: [], isGuest: false)
                return .unsuitable(scope, isBorrowed: isBorrowed)
            }
            guard isLateReplay, let former, let owner else { return .refused }
            return .replayed(session: former, of: owner)
        }
        var grant = try nextGrant()
        grant.isBorrowed = isBorrowed
        guard var scope = try nextClientScope() else { return .refused }
        let nonce: String? = try next()
        scope.tokenClaims = try next()
        scope.account = try nextAccountClaims(of: grant)
        return .opened(OpenedClientSession(grant: grant, scope: scope, nonce: nonce))
    }
}
