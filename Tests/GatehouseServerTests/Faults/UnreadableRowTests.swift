import Accounts
import Foundation
import NIOHTTP1
import Postgres
import Testing

@testable import GatehouseServer
@testable import Storage

/// A corrupted row in the database.
struct UnreadableRowTests {
    @Test func `an unreadable account fails alone, not the accounts that are read together with it`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (bad, good) = (try await client.guest(), try await client.guest())
            let (spoilt, whole) = (try #require(UUID(uuidString: bad.uid)), try #require(UUID(uuidString: good.uid)))
            // JSON nested more deeply than the decoder allows.
            try await server.execute(
                """
                UPDATE accounts SET metadata = ('{"a":' || repeat('[', 1000) || repeat(']', 1000) || '}')::jsonb
                 WHERE uid = $1
                """, [.uuid(spoilt)])
            let application = try await server.application().id
            let users = SharedStatements(from: server.backend.database).users
            let answers = try await users.values([spoilt, whole, UUID()], application)
            #expect(Set(answers.keys) == [spoilt, whole])
            #expect(try answers[whole]?.get().uid == whole)
            #expect(throws: (any Error).self) { try answers[spoilt]?.get() }

            expectError(try await client.get("/auth/me", bearer: bad.accessToken), 500, "INTERNAL")
            #expect(try await client.get("/auth/me", bearer: good.accessToken).status == 200)
        }
    }
}
