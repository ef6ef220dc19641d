import Foundation
import NIOHTTP1
import Postgres
import Testing

@testable import GatehouseServer

/// The ways in which a session ends.
enum SessionEnding: CaseIterable, Sendable {
    case logout, passwordReset, accountDeletion, refreshReuse

    private static let ageRefreshTokens = Statement(
        .write,
        """
        UPDATE refresh_tokens SET created_at = created_at - interval '1 hour'
         WHERE session_id = (SELECT id FROM sessions WHERE uid = $1 ORDER BY created_at DESC LIMIT 1)
        """)

    /// Ends the person's session on a server.
    func end(_ person: Person, at server: TestServer) async throws {
        let client = APIClient(server)
        switch self {
        case .logout:
            try #require(try await client.post("/auth/logout", bearer: person.accessToken).status == 204)
        case .passwordReset:
            try #require(try await client.post("/auth/forgot-password", ["email": .string(person.email)]).status == 202)
            let token = try await client.resetToken(for: person, at: server)
            let reset = try await client.post(
                "/auth/reset-password", ["token": .string(token), "newPassword": "another fine battery staple"])
            try #require(reset.status == 204, "\(reset.text)")
        case .accountDeletion:
            try #require(try await client.delete("/auth/account", bearer: person.accessToken).status == 204)
        case .refreshReuse:
            let second = try #require(try await client.refresh(person.refreshToken)["refreshToken"].string)
            try #require(try await client.refresh(second).status == 200)
            let uid = try #require(UUID(uuidString: person.uid))
            _ = try await server.backend.database.execute(Self.ageRefreshTokens, [.uuid(uid)])
            try #require(try await client.refresh(person.refreshToken).code == "INVALID_REFRESH_TOKEN")
        }
    }
}

extension APIClient {
    /// The newest mail's: the one before it is that of the registration.
    fileprivate func resetToken(for person: Person, at server: TestServer) async throws -> String {
        var token: String?
        try await eventually("a mail with a reset token arrives") {
            let texts = server.inbox.messages().filter { $0.to == person.email }.map(\.text)
            let tokens = texts.compactMap { $0.firstMatch(of: /token=([A-Za-z0-9_-]+)/).map { String($0.output.1) } }
            token = Set(tokens).count > 1 ? tokens.first : nil
            return token != nil
        }
        return try #require(token)
    }
}
