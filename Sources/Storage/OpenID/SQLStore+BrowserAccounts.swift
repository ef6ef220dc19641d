package import Accounts
package import Foundation
package import OpenID
internal import Postgres

/// The accounts of a browser.
extension SQLStore: BrowserAccountStore {
    /// The sessions of the browser whose cookie has the hash `$2`; the fragment `absorbed` comes between the two parts.
    ///
    /// Expired ones are among them for a month, so that the person recognises the accounts.
    static let accountSessions: StaticString = """
            SELECT s.id, s.uid, s.identity_id, s.authenticated_at, s.is_borrowed, s.parent_id, s.idle, s.created_at,
                   s.last_used_at, a.display_name, a.locale, a.created_at = s.created_at AS is_new,
        """

    static let ofBrowser: StaticString = """
                   AS absorbed, s.expires_at > now() AND (s.idle IS NULL OR s.last_used_at > now() - s.idle) AS is_live
              FROM sessions s JOIN accounts a ON a.application_id = $1 AND a.uid = s.uid
             WHERE s.application_id = $1 AND s.browser_hash = $2 AND s.ended_at IS NULL
               AND least(s.expires_at, s.last_used_at + s.idle) > now() - interval '30 days'
               AND a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
        """

    /// What `Row.nextBrowserAccount` reads of a session `b` after its id, its account and `age`.
    static let browserColumns: StaticString = """
               , b.absorbed,
               coalesce((SELECT i.is_guest FROM identities i WHERE i.application_id = $1 AND i.id = b.identity_id), false),
               b.is_borrowed, b.is_borrowed AND b.parent_id IS NOT NULL,
               EXISTS (SELECT 1 FROM identities i JOIN passwords p ON p.application_id = $1 AND p.identity_id = i.id
                        WHERE i.application_id = $1 AND i.uid = b.uid AND p.must_change),
               b.authenticated_at,
               (SELECT i.provider FROM identities i WHERE i.application_id = $1 AND i.id = b.identity_id),
               (SELECT i.provider_uid FROM identities i WHERE i.application_id = $1 AND i.id = b.identity_id),
               b.is_live, b.idle IS NULL, b.is_new, b.last_used_at, b.display_name, b.locale,
               (SELECT i.email FROM identities i JOIN passwords p ON p.application_id = $1 AND p.identity_id = i.id
                 WHERE i.application_id = $1 AND i.uid = b.uid
                 ORDER BY i.created_at LIMIT 1),
               ARRAY(SELECT d.address FROM addresses d
                      WHERE d.application_id = $1 AND d.uid = b.uid AND d.kind = 'email'
                      ORDER BY d.verified_at, d.address),
               ARRAY(SELECT d.address FROM addresses d
                      WHERE d.application_id = $1 AND d.uid = b.uid AND d.kind = 'phone'
                      ORDER BY d.verified_at, d.address),
               ARRAY(SELECT i.provider FROM identities i WHERE i.application_id = $1 AND i.uid = b.uid)
        """

    static let browserAccounts = Statement(
        .write,
        """
        WITH browser AS MATERIALIZED (
        """, accountSessions, absorbed, ofBrowser,
        """
        ), noted AS (
            UPDATE sessions s SET last_used_at = now()
              FROM browser b
             WHERE s.application_id = $1 AND s.id = b.id AND b.is_live
               AND (b.id = $3 OR (SELECT count(*) FROM browser WHERE is_live) = 1)
               AND s.last_used_at < now() - interval '1 minute'
        )
        SELECT b.id, b.uid,
        """, age, browserColumns,
        """
          FROM browser b
         ORDER BY b.created_at, b.id
        """)

    package func accounts(
        of browser: [UInt8], using session: UUID?, application: Application.ID
    ) async throws -> [BrowserAccount] {
        let rows = try await run(
            Self.browserAccounts, [.application(application), .bytes(browser), .uuid(session)])
        return try rows.decoded { try $0.nextBrowserAccount() }.compactMap { $0 }
    }

    private static let forgetSession = Statement(
        .write,
        """
        UPDATE sessions SET browser_hash = NULL
         WHERE application_id = $1 AND browser_hash = $3 AND id = ANY (ARRAY(
               SELECT id FROM sessions
                WHERE application_id = $1 AND id = $2
                  AND (ended_at IS NOT NULL OR expires_at <= now() OR last_used_at <= now() - idle)))
        """)

    package func forget(_ session: UUID, browser: [UInt8], application: Application.ID) async throws {
        try await write(Self.forgetSession, [.application(application), .uuid(session), .bytes(browser)])
    }

    /// A session that an app has opened does not last longer than the app's.
    private static let keepSession = Statement(
        .write,
        """
        WITH kept AS MATERIALIZED (
            SELECT id, CASE WHEN parent_id IS NULL THEN greatest(expires_at, authenticated_at + $4::interval)
                            ELSE expires_at END AS expires_at
              FROM sessions
             WHERE application_id = $1 AND id = $2 AND kind = 'browser' AND ended_at IS NULL AND expires_at > now()
               AND (idle IS NULL OR last_used_at > now() - idle)
        )
        UPDATE sessions s SET idle = $3, expires_at = kept.expires_at, last_used_at = now()
          FROM kept
         WHERE s.application_id = $1 AND s.id = kept.id AND s.ended_at IS NULL
        """)

    package func keep(
        _ session: UUID, for lifetime: Duration, idle: Duration?, application: Application.ID
    ) async throws {
        try await write(
            Self.keepSession, [.application(application), .uuid(session), .interval(idle), .interval(lifetime)])
    }
}
