import Foundation
import Postgres

@testable import GatehouseServer

/// Sessions without refresh tokens, which clients of dialects have.
extension TestServer {
    /// Turns the sessions of an account into those of a client that has only an access token.
    func leaveAccessTokens(of uid: UUID) async throws { try await replaceRefreshTokens(of: uid, by: "none") }

    /// Turns the sessions of an account into those of a client with session bearers, which end after `idle` without use.
    func giveBearers(to uid: UUID, idle: Duration = .seconds(86_400)) async throws {
        try await replaceRefreshTokens(of: uid, by: "bearer")
        try await execute(
            """
            INSERT INTO session_bearers (application_id, hash, session_id, idle, idle_until, expires_at)
            SELECT application_id, sha256(uuid_send(id)), id, $2::interval, now() + $2::interval, expires_at FROM sessions WHERE uid = $1
            """, [.uuid(uid), .interval(idle)])
    }

    private func replaceRefreshTokens(of uid: UUID, by renewal: String) async throws {
        try await execute("UPDATE sessions SET renewal = $2 WHERE uid = $1", [.uuid(uid), .text(renewal)])
        try await execute(
            "DELETE FROM refresh_tokens WHERE session_id IN (SELECT id FROM sessions WHERE uid = $1)", [.uuid(uid)])
    }
}
