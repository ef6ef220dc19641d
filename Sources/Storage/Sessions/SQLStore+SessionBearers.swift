package import Accounts
internal import Foundation
internal import Postgres

extension SQLStore: SessionBearerStore {
    /// Finds the session of a bearer and, at most once a day and in a tenth of the idle time, writes that it was used.
    ///
    /// The account is judged, too, although all that stops an account ends its sessions. Of two uses at once, the later
    /// one waits for the row, finds that it was just written, and writes nothing. The comparison with the `used_at` that
    /// was read also keeps it from setting the time back.
    static let useBearer = Statement(
        .write,
        """
        WITH presented AS MATERIALIZED (
            SELECT s.id, s.uid, s.identity_id, s.authenticated_at, s.methods, s.is_borrowed, b.created_at, b.idle_until,
                   b.used_at, b.used_at <= now() - least(b.idle / 10, interval '1 day') AS is_due, now() AS now,
                   least(now() + b.idle, b.expires_at) AS next_idle_until,
                   CASE WHEN s.elevated_until > now() THEN s.elevated_until END AS elevated_until
              FROM session_bearers b
              JOIN sessions s ON s.application_id = $1 AND s.id = b.session_id
              JOIN accounts a ON a.application_id = $1 AND a.uid = s.uid
             WHERE b.application_id = $1 AND b.hash = $2 AND b.idle_until > now()
               AND s.ended_at IS NULL AND s.expires_at > now()
               AND a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
        ), used AS (
            UPDATE session_bearers b SET used_at = p.now, idle_until = p.next_idle_until
              FROM presented p
             WHERE b.application_id = $1 AND b.hash = $2 AND p.is_due AND b.used_at = p.used_at
        )
        SELECT p.id, p.uid, p.authenticated_at, p.methods, p.is_borrowed, p.created_at, p.idle_until, i.provider,
               i.provider_uid, p.elevated_until
          FROM presented p JOIN identities i ON i.application_id = $1 AND i.id = p.identity_id
        """)

    package func session(ofBearer hash: [UInt8], application: Application.ID) async throws -> BearerSession? {
        guard var row = try await run(Self.useBearer, [.application(application), .bytes(hash)]).first else {
            return nil
        }
        var session = BearerSession(
            id: try row.next(), uid: try row.next(), authenticatedAt: try row.next(), methods: try row.next(),
            isBorrowed: try row.next(), createdAt: try row.next(), expiresAt: try row.next(), provider: try row.next(),
            providerUid: try row.next())
        session.elevatedUntil = try row.next()
        return session
    }
}
