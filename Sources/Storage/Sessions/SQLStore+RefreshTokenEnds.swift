package import Accounts
package import Foundation
internal import Postgres

/// The sessions of refresh tokens that clients present to log out.
extension SQLStore {
    private static let selectSessionOfToken = Statement(
        .read, "SELECT session_id FROM refresh_tokens WHERE application_id = $1 AND hash = $2")

    package func endSession(
        ofRefreshToken hash: [UInt8], of uid: UUID, because reason: SessionEnd, application: Application.ID
    ) async throws {
        guard var row = try await run(Self.selectSessionOfToken, [.application(application), .bytes(hash)]).first else {
            return
        }
        try await endSessions(.one(row.next()), of: uid, because: reason, application: application)
    }

    private static let selectLiveSessionOfToken = Statement(
        .read,
        """
        SELECT s.id, s.uid FROM refresh_tokens t JOIN sessions s ON s.application_id = $1 AND s.id = t.session_id
         WHERE t.application_id = $1 AND t.hash = $2 AND t.expires_at > now() AND t.scopes IS NULL
           AND s.ended_at IS NULL AND s.expires_at > now()
        """)

    package func liveSession(
        ofRefreshToken hash: [UInt8], application: Application.ID
    ) async throws -> (id: UUID, uid: UUID)? {
        let rows = try await run(Self.selectLiveSessionOfToken, [.application(application), .bytes(hash)])
        guard var row = rows.first else { return nil }
        return (try row.next(), try row.next())
    }
}
