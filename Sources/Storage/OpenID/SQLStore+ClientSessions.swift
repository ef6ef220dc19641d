package import Accounts
package import Foundation
package import OpenID
internal import Postgres

extension SQLStore: ClientSessionStore {
    private static let endClientSession = Statement(
        .write,
        """
        WITH chosen AS MATERIALIZED (
            SELECT id FROM sessions
             WHERE application_id = $1 AND client_id = $5 AND issuer = $6 AND ended_at IS NULL
               AND id = coalesce($4, (SELECT session_id FROM refresh_tokens WHERE application_id = $1 AND hash = $2))
               FOR NO KEY UPDATE
        """, endingSessions,
        """
        ), ended AS (
            UPDATE sessions
               SET ended_at = now(),
                   end_reason = CASE WHEN id = ANY (ARRAY(SELECT id FROM chosen)) THEN $3 ELSE 'parentEnded' END
             WHERE application_id = $1 AND ended_at IS NULL AND id = ANY (ARRAY(SELECT id FROM ending))
            RETURNING id, uid, end_reason, kind, client_id, issuer, has_lent, dialect
        ), concerned AS MATERIALIZED (
            SELECT id, uid, client_id, issuer, false AS is_late FROM ended WHERE client_id IS NOT NULL
            UNION
            SELECT id, uid, client_id, issuer, false FROM sessions
             WHERE application_id = $1 AND ended_at IS NULL AND expires_at > now() AND outlives_parent
               AND parent_id = ANY (ARRAY(SELECT id FROM ended WHERE kind = 'browser'))
        """, announceEnds)

    package func endClientSession(
        _ session: UUID?, orOfRefreshToken hash: [UInt8]?, client: String, issuer: String, application: Application.ID
    ) async throws {
        let binds: [Bind] = [
            .application(application), .bytes(hash), .text(SessionEnd.clientRevoked.rawValue), .uuid(session),
            .text(client), .text(issuer),
        ]
        let ended = try noteEnded(
            try await run(Self.endClientSession, binds + receivers(application)), application: application)
        try await endThose(under: ended, because: .clientRevoked, application: application)
    }

    private static let selectClientSession = Statement(
        .read,
        """
        SELECT s.id, s.uid, s.client_id, t.scopes, t.expires_at
          FROM refresh_tokens t JOIN sessions s ON s.application_id = $1 AND s.id = t.session_id
         WHERE t.application_id = $1 AND t.hash = $2 AND t.issuer = $3 AND t.expires_at > now()
           AND s.client_id IS NOT NULL AND s.ended_at IS NULL AND s.expires_at > now()
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
