import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Storage
import Synchronization
import Testing

@testable import GatehouseServer

/// Many concurrent erasures, some of which wait for an acknowledgement.
struct ErasureQueueTests {
    @Test func `erasures that wait for a silent webhook delay no others and are not polled all the time`() async throws
    {
        try await WebhookSink.with { _, _ in
            .status(500)
        } _: { silent in
            try await TestServer.with(
                application: "deletion: { gracePeriod: 0s, webhookDeadline: 72h }",
                others: """
                      prompt:
                        audience: prompt
                        deletion: { gracePeriod: 0s, webhookDeadline: 0s }
                        providers: { anonymous: { enabled: true } }
                    """, webhooks: "[\(silent.entry("account.deleted"))]"
            ) { server in
                let client = APIClient(server)
                for _ in 1...120 { try await client.deleteAccount(client.guest()) }
                try await eventually("all of them have begun", within: .seconds(60)) {
                    try await server.count("SELECT count(*) FROM erasures WHERE began_at IS NOT NULL") == 120
                }
                let other = APIClient(server, application: "prompt")
                let guest = try await other.guest()
                let location = try await other.deleteAccount(guest)
                try await eventually("the one behind them is erased") {
                    try await client.erasure(location)["status"] == "erased"
                }
                // After an hour of waiting they are checked only every few minutes.
                try await server.age("erasures", "began_at", by: "1 hour", where: "erased_at IS NULL")
                try await server.execute("UPDATE erasures SET look_again_at = now() WHERE erased_at IS NULL")
                try await eventually("each is looked at once more", within: .seconds(60)) {
                    try await server.count(
                        "SELECT count(*) FROM erasures WHERE look_again_at > now() + interval '10 minutes'") == 120
                }
            }
        }
    }

    @Test func `an acknowledgement wakes the erasure that waits for it`() async throws {
        try await WebhookSink.with { _, _ in
            .hang
        } _: { sink in
            try await TestServer.with(
                application: "deletion: { gracePeriod: 0s, webhookDeadline: 72h }",
                webhooks: "[\(sink.entry("account.deleted"))]"
            ) { server in
                let client = APIClient(server)
                let location = try await client.deleteAccount(client.guest())
                try await eventually("it is told, and waits") {
                    try await server.count("SELECT count(*) FROM erasures WHERE began_at IS NOT NULL") == 1
                        && sink.posts.count == 1
                }
                try await server.execute("UPDATE erasures SET look_again_at = now() + interval '1 hour'")
                sink.release()
                try await eventually("it is erased") { try await client.erasure(location)["status"] == "erased" }
            }
        }
    }

    @Test func `an acknowledgement is not undone by a postponement that began before it`() async throws {
        try await WebhookSink.with { _, _ in
            .hang
        } _: { sink in
            try await TestServer.with(
                application: "deletion: { gracePeriod: 0s, webhookDeadline: 72h }",
                webhooks: "[\(sink.entry("account.deleted"))]"
            ) { server in
                let client = APIClient(server)
                let guest = try await client.guest()
                let location = try await client.deleteAccount(guest)
                try await eventually("it is told, and waits") {
                    try await server.count("SELECT count(*) FROM erasures WHERE began_at IS NOT NULL") == 1
                        && sink.posts.count == 1
                }
                let (uid, application) = (try #require(UUID(uuidString: guest.uid)), try await server.application().id)
                try await server.withoutScheduler {
                    try await server.backend.store.transaction { store in
                        // The first statement fixes the time of the transaction.
                        let erasure = try #require(try await store.scheduledErasure(of: uid, application: application))
                        sink.release()
                        try await eventually("it is acknowledged") {
                            let sql: StaticString =
                                "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL"
                            return try await server.count(sql) == 1
                        }
                        try await store.postpone(erasure, by: .seconds(3600))
                    }
                    #expect(try await server.count("SELECT count(*) FROM erasures WHERE look_again_at <= now()") == 1)
                }
                try await eventually("it is erased") { try await client.erasure(location)["status"] == "erased" }
            }
        }
    }

    @Test func `an erasure that has begun cannot be cancelled`() async throws {
        try await WebhookSink.with { _, _ in
            .status(500)
        } _: { silent in
            try await TestServer.with(webhooks: "[\(silent.entry("account.deleted"))]") { server in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                try await client.deleteAccount(person)
                let login = try await client.login(person.email)
                let token = try #require(login["error"]["details"]["restoreToken"].string)
                try await server.withoutScheduler {
                    guard case .waiting = try await server.advance(person.uid) else {
                        Issue.record("it did not wait")
                        return
                    }
                    // Simulates a restore whose transaction began before the end of the grace period.
                    try await server.execute("UPDATE accounts SET purge_after = now() + interval '1 hour'")
                    expectError(
                        try await client.post("/auth/account/restore", ["restoreToken": .string(token)]), 401,
                        "INVALID_TOKEN")
                }
            }
        }
    }

    @Test func `an erasure that another replica completed is erased, a restored one is not`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (leaving, staying) = (try await client.register(at: server), try await client.register(at: server))
            let scope = try await server.scope()
            let purge = server.backend.purge
            @Sendable func due(_ person: Person) async throws -> DueErasure {
                try await client.deleteAccount(person)
                return try await purge.scheduled(#require(UUID(uuidString: person.uid)), in: scope.application)
            }
            try await server.withoutScheduler {
                let (first, second) = (try await due(leaving), try await due(staying))
                for _ in 1...2 { #expect(try await purge.erase(first, in: scope) == .erased(without: [])) }
                let login = try await client.login(staying.email)
                let restored = try await client.post(
                    "/auth/account/restore", ["restoreToken": login["error"]["details"]["restoreToken"]])
                try #require(restored.status == 200, "\(restored.text)")
                #expect(try await purge.erase(second, in: scope) == .void)
            }
            #expect(try await server.accounts(staying.uid) == 1)
        }
    }

    @Test func `a cancelled erasure does not shorten the next one`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let scope = try await server.scope()
            let purge = server.backend.purge
            try await client.deleteAccount(person)
            let first = try await purge.scheduled(#require(UUID(uuidString: person.uid)), in: scope.application)
            let login = try await client.login(person.email)
            let restored = try await client.post(
                "/auth/account/restore", ["restoreToken": login["error"]["details"]["restoreToken"]])
            let location = try await client.deleteAccount(Person(restored, email: "", password: ""))
            #expect(try await purge.erase(first, in: scope) == .void)
            #expect(try await client.erasure(location)["status"] == "scheduled")
            for table: StaticString in [
                "SELECT count(*) FROM accounts WHERE purge_after > now() + interval '29 days'",
                "SELECT count(*) FROM erasures WHERE restored_at IS NULL AND purge_after > now() + interval '29 days'",
            ] { #expect(try await server.count(table) == 1) }
        }
    }

    @Test func `a restore token is of no use after the account was restored`() async throws {
        try await TestServer.with(providers: "scripted: {}") { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            _ = try await client.link(.somebody("thief"), bearer: person.accessToken)
            try await client.deleteAccount(person)
            func token(_ refusal: APIClient.Answer) -> JSONValue { refusal["error"]["details"]["restoreToken"] }
            let stolen = token(try await client.present(.somebody("thief")))
            let own = token(try await client.login(person.email))
            let back = try await client.post("/auth/account/restore", ["restoreToken": own])
            try #require(back.status == 200, "\(back.text)")
            try await client.deleteAccount(Person(back, email: "", password: ""))
            expectError(
                try await client.post("/auth/account/restore", ["restoreToken": stolen]), 401, "INVALID_TOKEN")
        }
    }

    @Test func `an account in its grace period is neither leased nor erased`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            try await client.deleteAccount(guest)
            let store = server.backend.store
            let application = try await server.application().id
            let taken = try await store.takeErasures(of: [application], atMost: 4, lease: .seconds(30))
            #expect(taken == [])
            // The server's own scheduler has not taken one either.
            #expect(try await server.count("SELECT count(*) FROM erasures WHERE look_again_at IS NOT NULL") == 0)
            let uid = try #require(UUID(uuidString: guest.uid))
            let erasure = try #require(try await store.scheduledErasure(of: uid, application: application))
            let hasBegun = try await store.beginErasure(erasure, family: [uid])
            #expect(!hasBegun)
            #expect(try await server.count("SELECT count(*) FROM erasures WHERE began_at IS NOT NULL") == 0)
        }
    }

    @Test func `a service that was given up is notified again within the deadline`() async throws {
        let works = Mutex(false)
        try await WebhookSink.with { _, _ in
            works.withLock { $0 } ? .status(204) : .status(500)
        } _: { sink in
            try await TestServer.with(webhooks: "[\(sink.entry("account.deleted"))]") { server in
                let client = APIClient(server)
                let guest = try await client.guest()
                let location = try await client.deleteAccount(guest)
                try await eventually("it was tried, and is put off") {
                    try await server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE failure IS NOT NULL") == 1
                }
                // Within an hour after a delivery was given up, its event is not sent again.
                try await server.putOffDeliveries(givenUp: .seconds(3000))
                let tried = sink.posts.count
                works.withLock { $0 = true }
                guard case .waiting = try await server.erase(guest.uid) else {
                    Issue.record("it did not wait")
                    return
                }
                #expect(sink.posts.count == tried)
                try await server.putOffDeliveries(givenUp: .seconds(3700))
                try await eventually("it is told again") { sink.posts.count == tried + 1 }
                try await eventually("it is erased") { try await client.erasure(location)["status"] == "erased" }
            }
        }
    }
}
