import Accounts
import Foundation
import Postgres
import Storage
import Testing

@testable import GatehouseServer

/// The search for idle guests costs as much as there are idle guests, not as much as there are accounts.
struct IdleGuestTests {
    private func chosen(_ server: TestServer) async throws -> [IdleGuest] {
        try await server.backend.store.guests(
            idleFor: .seconds(3600), after: nil, atMost: 10, application: server.application().id)
    }

    @Test func `an active guest is not checked again before it may be idle`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (idle, alive) = (try await client.guest(), try await client.guest())
            try await server.age("identities", "created_at", "last_used_at", by: "2 hours")
            try await server.age(
                "refresh_tokens", "created_at", by: "2 hours",
                where: "session_id IN (SELECT id FROM sessions WHERE uid = '\(idle.uid)')")
            let first = try await chosen(server)
            #expect(first.count == 2)
            #expect(first.filter(\.isIdle).map(\.uid.uuidString) == [idle.uid.uppercased()])
            #expect(try await chosen(server).map(\.uid.uuidString) == [idle.uid.uppercased()])
            // The next check is due by the time when the guest was last seen, not by the time of the last check.
            try await server.age("identities", "seen_at", by: "2 hours", where: "uid = '\(alive.uid)'")
            #expect(try await chosen(server).count == 2)
        }
    }

    @Test func `an ended session does not keep a guest from being idle`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (gone, alive) = (try await client.guest(), try await client.guest())
            try await server.age("identities", "created_at", "last_used_at", by: "2 hours")
            let fresh = try await client.guest()
            // A guest without an open session is idle regardless of its refresh tokens, but a new guest that logs out
            // is not erased early.
            for guest in [gone, fresh] {
                let left = try await client.post("/auth/logout", bearer: guest.accessToken)
                #expect(left.status == 204)
            }
            let uids = try [gone, alive, fresh].map { try #require(UUID(uuidString: $0.uid)) }
            #expect(try await chosen(server).filter(\.isIdle).map(\.uid) == [uids[0]])
            let application = try await server.application().id
            for (uid, isIdle) in zip(uids, [true, false, false]) {
                let found = try await server.backend.store.isIdleGuest(
                    uid, for: .seconds(3600), application: application)
                #expect(found == isIdle)
            }
        }
    }

    @Test func `a guest whose browser or client was active lately is not idle`() async throws {
        try await TestServer.with { server in
            let guest = try await APIClient(server).guest()
            _ = try await RelyingParty(server).browser(of: guest)
            try await server.age("identities", "created_at", "last_used_at", by: "2 hours")
            try await server.age("refresh_tokens", "created_at", by: "2 hours")
            let (uid, application) = (try #require(UUID(uuidString: guest.uid)), try await server.application().id)
            #expect(try await !server.backend.store.isIdleGuest(uid, for: .seconds(3600), application: application))
            #expect(try await chosen(server).map(\.isIdle) == [false])
            try await server.age("identities", "seen_at", by: "2 hours")
            try await server.age("sessions", "last_used_at", by: "2 hours")
            #expect(try await server.backend.store.isIdleGuest(uid, for: .seconds(3600), application: application))
            #expect(try await chosen(server).map(\.isIdle) == [true])
        }
    }

    @Test(arguments: ["session_bearers", "sessions"])
    func `a guest whose app has no refresh token is idle when its session was not used`(activity: String) async throws {
        try await TestServer.with { server in
            let guest = try await APIClient(server).guest()
            let (uid, application) = (try #require(UUID(uuidString: guest.uid)), try await server.application().id)
            let isBearer = activity == "session_bearers"
            if isBearer { try await server.giveBearers(to: uid) } else { try await server.leaveAccessTokens(of: uid) }
            try await server.age("identities", "created_at", "last_used_at", by: "2 hours")
            // The age of a session with a bearer does not matter, only the bearer's last use.
            if isBearer { try await server.age("sessions", "created_at", by: "2 hours") }
            for isIdle in [false, true] {
                let found = try await server.backend.store.isIdleGuest(
                    uid, for: .seconds(3600), application: application)
                #expect(found == isIdle)
                #expect(try await chosen(server).map(\.isIdle) == [isIdle])
                guard !isIdle else { continue }
                try await server.age("identities", "seen_at", by: "2 hours")
                try await server.age(activity, isBearer ? "used_at" : "created_at", by: "2 hours")
            }
        }
    }

    @Test func `a guest that is found idle can't be refreshed before it is deleted`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            try await server.age("identities", "created_at", "last_used_at", by: "2 hours")
            try await server.age("refresh_tokens", "created_at", by: "2 hours")
            let (uid, application) = (try #require(UUID(uuidString: guest.uid)), try await server.application().id)
            let refresh = try await server.backend.store.transaction { store in
                _ = try await store.lockAccount(uid, application: application)
                #expect(try await store.isIdleGuest(uid, for: .seconds(3600), application: application))
                let refresh = Task { try await client.refresh(guest.refreshToken) }
                try await server.awaitBlocked(1)
                try await store.endSessions(.all, of: uid, because: .accountDeleted, application: application)
                return refresh
            }
            expectError(try await refresh.value, 401, "INVALID_REFRESH_TOKEN")
        }
    }

    @Test func `an account with an identity that can sign in is not a guest`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            _ = try await client.guest()
            let uid = try #require(UUID(uuidString: person.uid))
            try await server.execute("UPDATE identities SET uid = $1 WHERE is_guest", [.uuid(uid)])
            try await server.age("identities", "created_at", "last_used_at", by: "2 hours")
            try await server.age("refresh_tokens", "created_at", by: "2 hours")
            let found = try await chosen(server)
            #expect(found.map(\.uid) == [uid] && found.map(\.isIdle) == [false])
            let isIdle = try await server.backend.store.isIdleGuest(
                uid, for: .seconds(3600), application: server.application().id)
            #expect(!isIdle)
            // The guest is not checked again soon.
            #expect(try await chosen(server) == [])
        }
    }

    @Test func `one replica at a time looks for idle guests`() async throws {
        try await TestServer.with { server in
            _ = try await APIClient(server).guest()
            try await server.age("identities", "created_at", by: "2 hours")
            let meanwhile = try await server.backend.database.transaction { transaction in
                // On Citus the lock is that of the node which stores the application.
                let lock = Statement(
                    .write,
                    """
                    SELECT pg_advisory_xact_lock(hashtextextended('gatehouse guests', 0))
                      FROM identities WHERE application_id = $1
                    """)
                _ = try await transaction.execute(lock, [.application(server.application().id)])
                return try await chosen(server)
            }
            #expect(meanwhile == [])
            #expect(try await chosen(server).count == 1)
        }
    }
}
