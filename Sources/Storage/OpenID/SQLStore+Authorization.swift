package import Accounts
package import Foundation
package import OpenID
package import Postgres
internal import ProviderKit

extension SQLStore: AuthorizationStore {
    /// Reads the live sessions of a browser; if there is exactly one, stores the code and notes the session's use.
    ///
    /// Whether the code is handed out is decided afterwards. If it is not, only its hash exists, and it expires unused. Most
    /// requests of a browser that is signed in therefore take one statement.
    package static let browserSessions = Statement(
        .write,
        """
        WITH live AS MATERIALIZED (
            SELECT s.id, s.uid, s.identity_id, s.authenticated_at, s.is_borrowed, s.parent_id, CASE WHEN $16 THEN
        """, absorbed,
        """
                   ELSE '{}' END AS absorbed
              FROM sessions s JOIN accounts a ON a.application_id = $1 AND a.uid = s.uid
             WHERE s.application_id = $1 AND s.browser_hash = $2 AND s.ended_at IS NULL AND s.expires_at > now()
               AND (s.idle IS NULL OR s.last_used_at > now() - s.idle)
               AND a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
        ), stored AS (
            INSERT INTO authorization_codes
                   (application_id, hash, client_id, redirect_uri, code_challenge, nonce, issuer, scopes, resources,
                    claims, token_claims, uid, session_id, expires_at)
            SELECT $1, $6, $3, $7, $8, $9, $4, $10, $11, $12, $13, live.uid, live.id, now() + $14::interval
              FROM live
             WHERE $6::bytea IS NOT NULL AND (SELECT count(*) FROM live) = 1
            RETURNING hash
        ), noted AS (
            UPDATE sessions s SET last_used_at = now()
              FROM live
             WHERE s.application_id = $1 AND s.id = live.id AND s.last_used_at < now() - interval '1 minute'
               AND (SELECT count(*) FROM live) = 1
        )
        SELECT EXISTS (SELECT 1 FROM stored), live.id, live.uid,
        """, age,
        """
               , live.absorbed,
               coalesce((SELECT i.is_guest FROM identities i WHERE i.application_id = $1 AND i.id = live.identity_id), false),
               live.is_borrowed, live.is_borrowed AND live.parent_id IS NOT NULL,
               EXISTS (SELECT 1 FROM identities i JOIN passwords p ON p.application_id = $1 AND p.identity_id = i.id
                        WHERE i.application_id = $1 AND i.uid = live.uid AND p.must_change),
               EXISTS (SELECT 1 FROM addresses d
                        WHERE d.application_id = $1 AND d.kind = $15 AND d.address = $5 AND d.uid = live.uid),
               (SELECT c.last_used_at FROM sessions c
                 WHERE c.application_id = $1 AND c.parent_id = live.id AND c.client_id = $3 AND c.issuer = $4
                   AND c.ended_at IS NULL),
               (SELECT g.scopes || g.resources FROM consents g
                 WHERE g.application_id = $1 AND g.uid = live.uid AND g.client_id = $3)
          FROM live
         ORDER BY live.id
        """)

    package func sessions(
        _ query: BrowserQuery, application: Application.ID
    ) async throws -> (sessions: [BrowserSession], isCodeStored: Bool) {
        let code = query.code
        let binds: [Bind] =
            [
                .application(application), .bytes(query.browser), .text(query.clientID), .text(query.issuer),
                .text(query.hint?.value), .bytes(code?.hash),
            ] + (code?.request.binds ?? ClientRequest.noBinds)
            + [.interval(code?.lifetime), .text(query.hint?.kind.rawValue), .bool(query.needsAbsorbed)]
        var isStored = false
        let sessions = try await run(Self.browserSessions, binds).decoded { row in
            isStored = try row.next()
            var session = BrowserSession(id: try row.next(), uid: try row.next(), age: try row.next())
            session.absorbed = try row.next()
            session.isGuest = try row.next()
            (session.isBorrowed, session.isOfApp) = (try row.next(), try row.next())
            session.needsNewPassword = try row.next()
            session.isPreferred = try row.next()
            session.lastUsedByClient = try row.next()
            session.consented = Set(try row.next([String]?.self) ?? [])
            return session
        }
        return (sessions, isStored)
    }

    /// The age of an authentication, as `BrowserSession.age` defines it.
    static let age: StaticString = """
        (floor(extract(epoch FROM now())) - floor(extract(epoch FROM authenticated_at)))::int8
        """

    /// The request's end is set back, so that it is over also for a call that began earlier and waits for it.
    ///
    /// `$14` is empty if no request ends: Citus refuses an UPDATE in a common table expression whose condition is null.
    private static let storeCode = Statement(
        .write,
        """
        WITH live AS MATERIALIZED (
            SELECT id, uid FROM sessions
             WHERE application_id = $1 AND id = $5 AND kind = 'browser' AND ended_at IS NULL AND expires_at > now()
               AND (idle IS NULL OR last_used_at > now() - idle)
        ), finished AS (
            UPDATE authorization_requests SET expires_at = now() - interval '1 minute'
             WHERE application_id = $1 AND hash = $14 AND expires_at > now() AND EXISTS (SELECT 1 FROM live)
            RETURNING hash
        ), noted AS (
            UPDATE sessions s SET last_used_at = now()
              FROM live
             WHERE s.application_id = $1 AND s.id = live.id AND s.last_used_at < now() - interval '1 minute'
        )
        INSERT INTO authorization_codes
               (application_id, hash, client_id, redirect_uri, code_challenge, nonce, issuer, scopes, resources, claims,
                token_claims, uid, session_id, expires_at)
        SELECT $1, $2, $3, $6, $7, $8, $4, $9, $10, $11, $12, live.uid, live.id,
               now() + $13::interval
          FROM live
         WHERE $14 = '' OR EXISTS (SELECT 1 FROM finished)
        """)

    package func store(
        _ code: NewCode, of session: UUID, finishing request: [UInt8]?, application: Application.ID
    ) async throws -> Bool {
        let binds: [Bind] =
            [
                .application(application), .bytes(code.hash), .text(code.request.clientID), .text(code.issuer),
                .uuid(session),
            ] + code.request.binds + [.interval(code.lifetime), .bytes(request ?? [])]
        return try await run(Self.storeCode, binds).affected == 1
    }

    // MARK: - Requests

    /// A browser has twenty open requests at most; a further one closes the oldest.
    private static let storeRequest = Statement(
        .write,
        """
        WITH closed AS (
            UPDATE authorization_requests SET expires_at = now()
             WHERE application_id = $1 AND hash = ANY (ARRAY(
                SELECT hash FROM authorization_requests
                 WHERE application_id = $1 AND browser_hash = $6 AND expires_at > now()
                 ORDER BY created_at DESC
                OFFSET 19))
        )
        INSERT INTO authorization_requests
               (application_id, hash, client_id, issuer, sealed, browser_hash, expires_at, marks)
        VALUES ($1, $2, $3, $4, $5, $6, now() + $7::interval, nullif($8::bytea[], '{}'))
        """)

    package func store(_ request: StoredRequest, for lifetime: Duration, application: Application.ID) async throws {
        let sealed = try sealed(request, application: application)
        try await write(
            Self.storeRequest,
            [
                .application(application), .bytes(request.hash), .text(request.request.clientID), .text(request.issuer),
                .bytes(sealed), .bytes(request.browser), .interval(lifetime), marks(of: request),
            ])
    }

    /// The expiry of a request that a browser has already is left as it is.
    private static let bringRequest = Statement(
        .write,
        """
        WITH brought AS (
            UPDATE authorization_requests SET browser_hash = $3, expires_at = now() + $4::interval
             WHERE application_id = $1 AND hash = $2 AND client_id = $5 AND issuer = $6 AND browser_hash IS NULL
               AND expires_at > now()
            RETURNING issuer, sealed
        ), closed AS (
            UPDATE authorization_requests SET expires_at = now()
             WHERE application_id = $1 AND EXISTS (SELECT 1 FROM brought) AND hash = ANY (ARRAY(
                SELECT hash FROM authorization_requests
                 WHERE application_id = $1 AND browser_hash = $3 AND hash <> $2 AND expires_at > now()
                 ORDER BY created_at DESC
                OFFSET 19))
        )
        SELECT issuer, sealed FROM brought
        UNION ALL
        SELECT issuer, sealed FROM authorization_requests
         WHERE application_id = $1 AND hash = $2 AND client_id = $5 AND issuer = $6 AND browser_hash = $3
           AND expires_at > now()
         LIMIT 1
        """)

    package func request(
        _ hash: [UInt8], of client: String, at issuer: String, broughtBy browser: [UInt8], lifetime: Duration,
        application: Application.ID
    ) async throws -> StoredRequest? {
        let binds: [Bind] = [
            .application(application), .bytes(hash), .bytes(browser), .interval(lifetime), .text(client), .text(issuer),
        ]
        var rows = try await run(Self.bringRequest, binds)
        // If the browser brings it twice at once, the statement that waited for the other sees neither case.
        if rows.isEmpty { rows = try await run(Self.bringRequest, binds) }
        guard var row = rows.first else { return nil }
        return try row.nextRequest(hash, of: browser, application: application, by: sealing)
    }
}

extension ClientRequest {
    /// The columns of a code from `redirect_uri` to `token_claims`.
    fileprivate var binds: [Bind] {
        [
            .text(returnAddress.redirectURI), .text(codeChallenge), .text(nonce), .texts(scopes), .texts(resources),
            .texts(claims.userInfo), .texts(claims.identityToken),
        ]
    }

    fileprivate static var noBinds: [Bind] {
        [.text(nil), .text(nil), .text(nil), .texts([]), .texts([]), .texts([]), .texts([])]
    }
}
