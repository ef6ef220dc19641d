package import Accounts
package import Foundation
package import OpenID
internal import Postgres

/// The secrets with which apps open browser sessions.
extension SQLStore: NativeSecretStore {
    /// Runs before `issueNativeSecret`, which would otherwise not see a secret that it has waited for.
    private static let lockLender = Statement(
        .write, "SELECT id FROM sessions WHERE application_id = $1 AND id = $2 FOR NO KEY UPDATE")

    /// Stores a secret of a locked, live session, and marks the session, so that its end also ends what the secret opens.
    ///
    /// The last ten secrets of a session are kept, so that an app can't fill the table. An older one that a browser uses at
    /// this moment is skipped: its use locks the secret before the session.
    static let issueNativeSecret = Statement(
        .write,
        """
        WITH lender AS MATERIALIZED (
            SELECT s.id, s.uid, s.identity_id, s.is_borrowed, s.has_lent FROM sessions s
             WHERE s.application_id = $1 AND s.id = $2 AND s.ended_at IS NULL AND s.expires_at > now()
        ), owner AS MATERIALIZED (
            SELECT l.id, l.uid, l.has_lent, i.provider, i.provider_uid, NOT l.is_borrowed AND NOT i.is_guest AS may_lend
              FROM lender l
              JOIN accounts a ON a.application_id = $1 AND a.uid = l.uid
              JOIN identities i ON i.application_id = $1 AND i.id = l.identity_id
             WHERE a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
        ), marked AS (
            UPDATE sessions s SET has_lent = true
              FROM owner
             WHERE s.application_id = $1 AND s.id = owner.id AND owner.may_lend AND NOT owner.has_lent
        ), dropped AS (
            DELETE FROM proofs WHERE application_id = $1 AND kind = 'css' AND hash = ANY (ARRAY(
                SELECT hash FROM proofs
                 WHERE application_id = $1 AND kind = 'css' AND hash = ANY (ARRAY(
                    SELECT hash FROM proofs
                     WHERE application_id = $1 AND session_id = (SELECT id FROM owner) AND kind = 'css'
                     ORDER BY expires_at DESC OFFSET 9))
                   FOR UPDATE SKIP LOCKED))
        ), issued AS (
            INSERT INTO proofs
                   (application_id, kind, hash, provider, provider_uid, uid, methods, expires_at, session_id)
            SELECT $1, 'css', $3, provider, provider_uid, uid, '{}', now() + $4::interval, id
              FROM owner
             WHERE may_lend
        )
        SELECT may_lend FROM owner
        """)

    package func issue(
        nativeSecret hash: [UInt8], of session: UUID, for lifetime: Duration, application: Application.ID
    ) async throws -> Bool? {
        let key: [Bind] = [.application(application), .uuid(session)]
        let answers = try await run([
            (Self.lockLender, key), (Self.issueNativeSecret, key + [.bytes(hash), .interval(lifetime)]),
        ])
        var row = answers[1].first
        return try row?.next()
    }

    /// Consumes a secret, and opens a session of the browser unless the account is signed in there.
    ///
    /// It locks the secret, then the account, then the app's session, which therefore cannot end before the browser's
    /// session exists. The new cookie replaces the one of the browser's other sessions; an expired one of the same account
    /// leaves the browser. Returns the browser's sessions beyond the limit, which the caller ends.
    static let useNativeSecret = Statement(
        .write,
        """
        WITH secret AS MATERIALIZED (
            SELECT uid, session_id FROM proofs
             WHERE application_id = $1 AND kind = 'css' AND hash = $2 AND expires_at > now()
               FOR UPDATE
        ), account AS MATERIALIZED (
            SELECT uid, audit_key FROM accounts
             WHERE application_id = $1 AND uid = (SELECT uid FROM secret)
               AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
               FOR SHARE
        ), lender AS MATERIALIZED (
            SELECT id, uid, identity_id, methods, authenticated_at, expires_at, client_id FROM sessions
             WHERE application_id = $1 AND id = (SELECT session_id FROM secret) AND uid = (SELECT uid FROM account)
               AND ended_at IS NULL AND expires_at > now() AND NOT is_borrowed
               FOR SHARE
        ), used AS (
            DELETE FROM proofs
             WHERE application_id = $1 AND kind = 'css' AND hash = $2 AND (SELECT count(*) FROM lender) >= 0
        ), present AS MATERIALIZED (
            SELECT id, uid, last_used_at FROM sessions
             WHERE application_id = $1 AND browser_hash = $4 AND ended_at IS NULL AND expires_at > now()
               AND (idle IS NULL OR last_used_at > now() - idle)
        ), same AS MATERIALIZED (
            SELECT p.id FROM present p JOIN lender l ON l.uid = p.uid ORDER BY p.id LIMIT 1
        ), opened AS (
            INSERT INTO sessions
                   (application_id, id, uid, identity_id, methods, authenticated_at, is_borrowed, device, address,
                    expires_at, kind, parent_id, browser_hash, idle, last_used_at)
            SELECT $1, $5, uid, identity_id,
                   CASE WHEN methods <@ '{mfa}' THEN '{fed,native}'::text[] ELSE methods || '{native}'::text[] END,
                   authenticated_at, true, $8, $9, least(now() + $6::interval, expires_at), 'browser', id, $3, $7, now()
              FROM lender
             WHERE NOT EXISTS (SELECT 1 FROM same)
            RETURNING id
        ), replaced AS (
            UPDATE sessions s SET browser_hash = CASE WHEN s.uid = lender.uid THEN NULL ELSE $3 END
              FROM lender, opened
             WHERE s.application_id = $1 AND s.browser_hash = $4
        ), noted AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'native.used', sha256(a.audit_key || uuid_send(a.uid)), session_pseudonym(a.audit_key, l.id),
                   jsonb_strip_nulls(jsonb_build_object('client', l.client_id))
              FROM account a, lender l
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'session.opened', sha256(a.audit_key || uuid_send(a.uid)), session_pseudonym(a.audit_key, o.id),
                   jsonb_build_object('kind', 'browser')
              FROM account a, opened o
        ), surplus AS MATERIALIZED (
            SELECT id, uid FROM present WHERE EXISTS (SELECT 1 FROM opened) ORDER BY last_used_at DESC, id OFFSET 4
        )
        SELECT coalesce(o.id, same.id), o.id IS NOT NULL,
               ARRAY(SELECT id FROM surplus ORDER BY id), ARRAY(SELECT uid FROM surplus ORDER BY id)
          FROM lender LEFT JOIN opened o ON true LEFT JOIN same ON true
        """)

    package func use(_ use: NativeSecretUse, application: Application.ID) async throws -> UsedNativeSecret? {
        let binds: [Bind] = [
            .application(application), .bytes(use.secret), .bytes(use.cookie), .bytes(use.replacing),
            .uuid(use.session), .interval(use.lifetime), .interval(use.idle), .text(use.device), .text(use.address),
        ]
        guard var row = try await run(Self.useNativeSecret, binds).first else { return nil }
        let (session, isNew): (UUID, Bool) = (try row.next(), try row.next())
        let (surplus, owners): ([UUID], [UUID]) = (try row.next(), try row.next())
        return UsedNativeSecret(session: session, isNew: isNew, surplus: zip(surplus, owners).map { ($0, $1) })
    }
}
