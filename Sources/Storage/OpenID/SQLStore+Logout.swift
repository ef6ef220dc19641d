package import Accounts
package import Foundation
package import OpenID
internal import Postgres

extension SQLStore: LogoutStore {
    private static let selectSignedIn = Statement(
        .read,
        """
        SELECT s.id, s.uid,
        """, absorbed,
        """
               , EXISTS (SELECT 1 FROM sessions c
                        WHERE c.application_id = $1 AND c.id = $3 AND c.parent_id = s.id), a.display_name,
               (SELECT d.address FROM addresses d
                 WHERE d.application_id = $1 AND d.uid = s.uid
                 ORDER BY d.kind, d.verified_at, d.address LIMIT 1),
               (SELECT i.provider FROM identities i
                 WHERE i.application_id = $1 AND i.id = s.identity_id AND NOT i.is_guest)
          FROM sessions s JOIN accounts a ON a.application_id = $1 AND a.uid = s.uid
         WHERE s.application_id = $1 AND s.browser_hash = $2 AND s.ended_at IS NULL AND s.expires_at > now()
           AND (s.idle IS NULL OR s.last_used_at > now() - s.idle)
         ORDER BY s.last_used_at DESC, s.id
        """)

    package func signedIn(
        _ browser: [UInt8], clientSession: UUID?, application: Application.ID
    ) async throws -> [SignedInSession] {
        try await run(Self.selectSignedIn, [.application(application), .bytes(browser), .uuid(clientSession)])
            .decoded { row in
                SignedInSession(
                    id: try row.next(), uid: try row.next(), absorbed: try row.next(),
                    hasClientSession: try row.next(), name: try row.next(), address: try row.next(),
                    provider: try row.next())
            }
    }
}
