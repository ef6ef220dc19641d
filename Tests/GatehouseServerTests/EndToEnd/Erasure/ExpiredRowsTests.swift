import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// What has served its time goes, and nothing that still tells of a thief.
struct ExpiredRowsTests {
    @Test func `expired sessions go, and ended ones after a month`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (live, ended, old, expired) = (
                try await client.guest(), try await client.guest(), try await client.guest(), try await client.guest()
            )
            for guest in [ended, old] {
                #expect(try await client.post("/auth/logout", bearer: guest.accessToken).status == 204)
            }
            try await server.execute(
                "UPDATE sessions SET ended_at = now() - interval '31 days' WHERE uid = $1", [old.uuid])
            try await server.execute(
                "UPDATE sessions SET expires_at = now() - interval '25 hours' WHERE uid = $1", [expired.uuid])
            _ = try await server.sweep()
            for (guest, count) in [(live, 1), (ended, 1), (old, 0), (expired, 0)] {
                #expect(
                    try await server.count("SELECT count(*) FROM sessions WHERE uid = $1", [guest.uuid]) == count)
            }
            #expect(try await client.refresh(live.refreshToken).status == 200)
            expectError(try await client.refresh(expired.refreshToken), 401, "INVALID_REFRESH_TOKEN")
        }
    }

    @Test func `a refresh token goes with the last that could be presented before it`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            let second = try #require(try await client.refresh(guest.refreshToken)["refreshToken"].string)
            _ = try await client.refresh(second)
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 3)
            try await server.letPass(.seconds(60))
            // The first was given for longer than those after it.
            try await server.execute(
                """
                UPDATE refresh_tokens SET expires_at = now() - interval '1 second'
                 WHERE created_at > (SELECT min(created_at) FROM refresh_tokens)
                """)
            _ = try await server.sweep()
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 3)
            expectError(try await client.refresh(guest.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            #expect(try await server.text("SELECT end_reason FROM sessions") == "refreshReused")
            try await server.execute("UPDATE refresh_tokens SET expires_at = now() - interval '1 second'")
            _ = try await server.sweep()
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 0)
        }
    }

    @Test func `failures are forgotten after a day`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            expectError(try await client.login(person.email, "wrong"), 401, "INVALID_CREDENTIALS")
            _ = try await server.sweep()
            #expect(try await server.count("SELECT count(*) FROM password_failures") == 1)
            try await server.execute("UPDATE password_failures SET failed_at = failed_at - interval '25 hours'")
            _ = try await server.sweep()
            #expect(try await server.count("SELECT count(*) FROM password_failures") == 0)
        }
    }
}

extension Person {
    fileprivate var uuid: Bind { .uuid(UUID(uuidString: uid)) }
}
