import Accounts
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer
@testable import Storage

/// Refreshes that share a statement: what it rotates, and what it leaves to the statement for a single token.
struct SharedRefreshTests {
    /// Guests, whose refresh tokens were not presented, with a rotation for each.
    private struct Guests {
        let server: TestServer
        let client: APIClient
        let all: [Person]
        let rotations: [FirstRotation]
        let application: Accounts.Application.ID

        var database: Database { server.backend.database }

        func rotated(_ rotations: [FirstRotation]) async throws -> [FirstRotation: Result<SessionGrant, any Error>] {
            try await SharedStatements(from: database).rotations.values(rotations, application)
        }

        func uid(_ index: Int) -> Bind { .uuid(UUID(uuidString: all[index].uid)) }
    }

    private func withGuests(
        _ count: Int, patience: TestServer.Patience = .unlimited,
        _ body: @Sendable @escaping (Guests) async throws -> Void
    ) async throws {
        try await TestServer.with(patience: patience) { server in
            let client = APIClient(server)
            var (all, rotations): ([Person], [FirstRotation]) = ([], [])
            for _ in 0..<count {
                let guest = try await client.guest()
                let row = try await server.backend.database.first(
                    Self.selectToken, .uuid(UUID(uuidString: guest.uid)))
                var token = try #require(row)
                all.append(guest)
                rotations.append(
                    FirstRotation(
                        presented: try token.next(), successor: (0..<32).map { _ in .random(in: 0...255) }, lifetime: 60
                    ))
            }
            try await body(
                Guests(
                    server: server, client: client, all: all, rotations: rotations,
                    application: server.application().id))
        }
    }

    private static let selectToken = Statement(
        .read,
        """
        SELECT t.hash FROM refresh_tokens t
          JOIN sessions s ON s.application_id = t.application_id AND s.id = t.session_id
         WHERE s.uid = $1
        """)

    @Test func `each token gets the grant of its own session`() async throws {
        try await withGuests(20) { guests in
            let rotated = try await guests.rotated(guests.rotations.shuffled())
            for (guest, rotation) in zip(guests.all, guests.rotations) {
                #expect(try rotated[rotation]?.get().uid.uuidString.lowercased() == guest.uid)
            }
            #expect(try await guests.rotated(guests.rotations).isEmpty)
        }
    }

    private static let spoilings: [StaticString] = [
        "UPDATE sessions SET ended_at = now(), end_reason = 'loggedOut' WHERE uid = $1",
        "UPDATE sessions SET expires_at = now() WHERE uid = $1",
        "UPDATE sessions SET generation = generation + 1 WHERE uid = $1",
        "UPDATE refresh_tokens SET expires_at = now() WHERE session_id = (SELECT id FROM sessions WHERE uid = $1)",
        "DELETE FROM sessions WHERE uid = $1",
    ]

    @Test(arguments: spoilings)
    func `a token that is not valid is left out, and fails no other`(spoil: StaticString) async throws {
        try await withGuests(2) { guests in
            try await guests.server.execute("UPDATE refresh_tokens SET generation = 0")
            try await guests.server.execute(spoil, [guests.uid(0)])
            #expect(Array(try await guests.rotated(guests.rotations).keys) == [guests.rotations[1]])
            expectError(try await guests.client.refresh(guests.all[0].refreshToken), 401, "INVALID_REFRESH_TOKEN")
        }
    }

    @Test func `an unreadable profile fails alone`() async throws {
        try await withGuests(2) { guests in
            // JSON nested more deeply than the decoder allows.
            try await guests.server.execute(
                """
                UPDATE identities SET profile = ('{"a":' || repeat('[', 1000) || repeat(']', 1000) || '}')::jsonb
                 WHERE uid = $1
                """, [guests.uid(0)])
            let rotated = try await guests.rotated(guests.rotations)
            #expect(throws: (any Error).self) { try rotated[guests.rotations[0]]?.get() }
            #expect(try rotated[guests.rotations[1]]?.get().uid.uuidString.lowercased() == guests.all[1].uid)
        }
    }

    @Test func `a borrowed session stays borrowed`() async throws {
        try await withGuests(1) { guests in
            try await guests.server.execute("UPDATE sessions SET is_borrowed = true")
            var token = guests.all[0].refreshToken
            for _ in 0..<2 {
                let answer = try await guests.client.refresh(token)
                let bearer = try #require(answer["accessToken"].string)
                #expect(try DecodedToken(bearer).claims["borrowed"] == true)
                expectError(try await guests.client.get("/auth/account/export", bearer: bearer), 403, "TOKEN_TOO_OLD")
                token = try #require(answer["refreshToken"].string)
            }
        }
    }

    @Test func `a session that is being deleted is left out, and holds up no other`() async throws {
        try await withGuests(2) { guests in
            let refresh = try await guests.database.transaction { transaction in
                _ = try await transaction.execute(
                    Self.lockSession, [.application(guests.application), guests.uid(0)])
                #expect(Array(try await guests.rotated(guests.rotations).keys) == [guests.rotations[1]])
                let refresh = Task { try await guests.client.refresh(guests.all[0].refreshToken) }
                try await guests.server.awaitBlocked(1)
                return refresh
            }
            #expect(try await refresh.value.status == 200)
        }
    }

    private static let lockSession = Statement(
        .write, "SELECT FROM sessions WHERE application_id = $1 AND uid = $2 FOR UPDATE")

    @Test func `a token whose successor is being deleted is left out, and holds up no other`() async throws {
        try await withGuests(2) { guests in
            #expect(try await guests.rotated([guests.rotations[0]]).count == 1)
            try await guests.database.transaction { transaction in
                let successor = guests.rotations[0].successor
                _ = try await transaction.execute(
                    Self.deleteToken, [.application(guests.application), .bytes(successor)])
                #expect(Array(try await guests.rotated(guests.rotations).keys) == [guests.rotations[1]])
            }
        }
    }

    private static let deleteToken = Statement(
        .write, "DELETE FROM refresh_tokens WHERE application_id = $1 AND hash = $2")

    @Test func `statements for the same tokens in opposite orders rotate each once`() async throws {
        try await withGuests(40) { guests in
            let orders = (0..<10).map { $0.isMultiple(of: 2) ? guests.rotations : guests.rotations.reversed() }
            let all = try await withThrowingTaskGroup(of: [FirstRotation].self) { group in
                for order in orders { group.addTask { Array(try await guests.rotated(order).keys) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(all.count == 40 && Set(all) == Set(guests.rotations))
        }
    }

    // Citus ends the statement instead of the wait for the lock.
    @Test(.needsOneNode) func `if a token must be waited for too long, each is decided by itself`() async throws {
        try await withGuests(2, patience: .limited) { guests in
            try await guests.database.transaction { transaction in
                _ = try await transaction.execute(
                    Self.insertToken,
                    [.application(guests.application), .bytes(guests.rotations[0].presented)]
                        + [.bytes(guests.rotations[0].successor)])
                #expect(try await guests.rotated(guests.rotations).isEmpty)
                #expect(try await guests.client.refresh(guests.all[1].refreshToken).status == 200)
            }
        }
    }

    private static let insertToken = Statement(
        .write,
        """
        INSERT INTO refresh_tokens (application_id, hash, session_id, expires_at)
        SELECT $1, $3, session_id, expires_at FROM refresh_tokens WHERE application_id = $1 AND hash = $2
        """)
}
