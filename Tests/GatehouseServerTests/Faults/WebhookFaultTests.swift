import Accounts
import Administration
import Delivery
import Foundation
import GatehouseTesting
import Logging
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Webhook receivers that fail, hang or disappear, and workers that are killed.
struct WebhookFaultTests {
    private func announce(_ count: Int = 1, at server: TestServer) async throws -> [AccountEvent] {
        let events = (0..<count).map { _ in AccountEvent(.accountErased, of: .v7()) }
        try await server.backend.store.announce(events, application: try await server.application().id)
        return events
    }

    private func delivery(_ event: AccountEvent, at server: TestServer) async throws -> QueueProgress {
        let deliveries = try await server.backend.store.deliveries(
            of: event.id, application: try await server.application().id)
        return try #require(deliveries.first).progress
    }

    @Test(arguments: [500, 404, 410, 301])
    func `a refused event is repeated with the same id and body`(status: Int) async throws {
        try await WebhookSink.with { _, number in
            .status(number == 0 ? status : 200)
        } _: { sink in
            try await TestServer.with(webhooks: "[\(sink.entry("account.erased"))]") { server in
                let event = try #require(try await announce(at: server).first)
                try await eventually("the refusal is seen") {
                    try await delivery(event, at: server).failure == "http-\(status)"
                }
                #expect(try await delivery(event, at: server).state == .pending)
                try await server.backend.store.retryUnacknowledged(
                    of: event.id, application: try await server.application().id)
                try await eventually("it is acknowledged") {
                    try await delivery(event, at: server).state == .delivered
                }
                #expect(sink.posts.count == 2)
                #expect(sink.posts.allSatisfy { $0.isSigned(with: WebhookSink.secret) })
                #expect(sink.posts.map(\.id) == [event.id.text, event.id.text])
                #expect(sink.posts[0].body == sink.posts[1].body)
                let acknowledged = try await delivery(event, at: server)
                #expect(acknowledged.attempts == 2 && acknowledged.failure == nil)
                // An acknowledged delivery is not retried.
                try await server.backend.store.retryUnacknowledged(
                    of: event.id, application: try await server.application().id)
                let later = try await delivery(event, at: server)
                #expect(later.endedAt == acknowledged.endedAt && later.dueAt == acknowledged.dueAt)
                #expect(later.attempts == 2)
            }
        }
    }

    @Test func `a redirect is not followed`() async throws {
        try await WebhookSink.with { other in
            let target = other.url
            try await WebhookSink.with { _, _ in
                .redirect(to: target)
            } _: { sink in
                try await TestServer.with(webhooks: "[\(sink.entry("account.erased"))]") { server in
                    let event = try #require(try await announce(at: server).first)
                    try await eventually("the refusal is seen") {
                        try await delivery(event, at: server).failure == "http-307"
                    }
                    #expect(other.posts.isEmpty)
                }
            }
        }
    }

    @Test func `a private host is reached only if the configuration allows it`() async throws {
        try await WebhookSink.with { sink in
            let hooks = "[\(sink.entry("account.erased"))]"
            try await TestServer.with(webhooks: hooks, network: "allowPrivateHosts: false") { server in
                let event = try #require(try await announce(at: server).first)
                try await eventually("the refusal is seen") {
                    try await delivery(event, at: server).failure == "unreachable-forbidden"
                }
                #expect(sink.posts.isEmpty)
            }
        }
    }

    @Test func `a webhook that hangs delays neither another nor a mail`() async throws {
        try await WebhookSink.with { _, _ in
            .hang
        } _: { hanging in
            try await WebhookSink.with { healthy in
                let hooks = "[\(hanging.entry("account.erased")), \(healthy.entry("account.erased"))]"
                try await TestServer.with(webhooks: hooks) { server in
                    let client = APIClient(server)
                    let events = try await announce(30, at: server)
                    try await eventually("it hangs in all its places") { hanging.posts.count == 4 }
                    let told = try await eventually("the other hears of everything") {
                        healthy.posts.count == events.count
                    }
                    _ = try await client.register(at: server)
                    #expect(hanging.posts.count == 4, "nothing was answered there yet")
                    print("30 events beside a hanging webhook took \(told.milliseconds) ms")
                    hanging.release()
                    try await eventually("then it hears of everything too") {
                        Set(hanging.posts.map(\.id)) == Set(events.map(\.id.text))
                    }
                    #expect(hanging.posts.count == events.count)
                }
            }
        }
    }

    @Test func `if a worker is killed before it marks a delivery, at most that delivery is repeated`() async throws {
        let database = try await TemporaryPostgres.database()
        try await WebhookSink.with { _, number in
            number == 0 ? .hang : .status(200)
        } _: { sink in
            let hook = sink.entry("account.created")
            var file = ServerFile(database: database)
            file.delivery = "webhooks: [\(hook)]"
            try await ProcessDirectory.with { directory in
                try await file.serve(in: directory) { process, client in
                    _ = try await client.guest()
                    try await eventually("the event is on its way") { sink.posts.count == 1 }
                    #expect(try await process.end(by: SIGKILL) == -SIGKILL)
                }
            }
            sink.release()
            try await TestServer.with(database: database, webhooks: "[\(hook)]") { server in
                // The lease expires.
                try await server.execute("UPDATE webhook_deliveries SET due_at = now(), leased_until = now()")
                try await eventually("it is acknowledged") {
                    try await server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL") == 1
                }
                _ = try await APIClient(server).guest()
                try await eventually("another one follows") { Set(sink.posts.map(\.id)).count == 2 }
                #expect(sink.posts.count == 3)
                #expect(sink.posts[0].id == sink.posts[1].id && sink.posts[0].body == sink.posts[1].body)
                #expect(sink.posts.allSatisfy { $0.isSigned(with: WebhookSink.secret) })
            }
        }
    }

    @Test func `deliveries of a webhook that is no longer configured end visibly`() async throws {
        try await WebhookSink.with { _, _ in
            .status(500)
        } _: { sink in
            try await TestServer.with(webhooks: "[\(sink.entry("account.erased"))]") { server in
                let event = try #require(try await announce(at: server).first)
                try await eventually("the refusal is seen") {
                    try await delivery(event, at: server).failure == "http-500"
                }
                server.backend.webhooks.replace(with: [])
                // An early delivery is kept, because another replica may still have this webhook in its configuration.
                let queue = server.backend.events()
                let early = try await queue.giveUp(allBut: [], overdue: .seconds(300), reason: "not-configured")
                #expect(early == 0)
                try await server.execute("UPDATE webhook_deliveries SET due_at = now() - interval '6 minutes'")
                let known = try await queue.giveUp(allBut: [sink.url], overdue: .seconds(300), reason: "not-configured")
                #expect(known == 0)
                try await eventually("the worker gives it up") {
                    // An attempt that had begun before the webhook was removed ends with a later due time.
                    try await server.execute(
                        "UPDATE webhook_deliveries SET due_at = now() - interval '6 minutes' WHERE failed_at IS NULL")
                    return try await delivery(event, at: server).state == .failed
                }
                #expect(try await delivery(event, at: server).failure == "not-configured")
                #expect(try await announce(at: server).count == 1)
                #expect(try await server.count("SELECT count(*) FROM webhook_deliveries") == 1)
            }
        }
    }

    @Test func `an attempt that was under way when the account was restored is not repeated`() async throws {
        try await WebhookSink.with { _, _ in
            .hang
        } _: { sink in
            try await TestServer.with(webhooks: "[\(sink.entry("account.deleted"))]") { server in
                let (client, store) = (APIClient(server), server.backend.store)
                let person = try await client.register(at: server)
                let location = try await client.deleteAccount(person)
                try await eventually("it is on its way") { !sink.posts.isEmpty }
                let uid = try #require(UUID(uuidString: person.uid))
                let application = try await server.application().id
                let restored = try await store.restore(uid, details: [:], application: application)
                #expect(restored != nil)
                let event = try #require(UUID(uuidString: sink.posts.first?.id ?? ""))
                let taken = TakenDelivery(
                    event: event, webhook: sink.url, application: application, applicationName: "demo",
                    kind: "account.deleted", uid: uid, details: [:], createdAt: Date(), attempts: 0)
                try await server.backend.events().markFailed(taken, reason: "http-500", retryAfter: .seconds(5))
                try await store.retryUnacknowledged(of: event, application: application)
                let progress = try await store.deliveries(of: event, application: application).first?.progress
                #expect(progress?.state == .failed && progress?.failure == "restored")
                let erasure = try await client.erasure(location)
                #expect(erasure["status"] == "restored", "\(erasure)")
                #expect(erasure["processors"].array?.map { $0["status"] } == ["pending"], "\(erasure)")
                sink.release()
            }
        }
    }

    @Test(arguments: [("account.merged", 0), ("account.erased", 1)])
    func `what is given up about an erased account is kept only if the account's end is its subject`(
        kind: String, kept: Int
    ) async throws {
        try await TestServer.with { server in
            let application = try await server.application().id
            let (event, uid, webhook) = (UUID.v7(), UUID.v7(), "https://hooks.example")
            for isConfigured in [true, false] {
                try await server.execute("DELETE FROM webhook_deliveries")
                try await server.execute(
                    """
                    INSERT INTO webhook_deliveries
                           (application_id, event_id, webhook, name, kind, uid, created_at, due_at, attempts)
                    VALUES ($1, $2, $3, 'hooks', $4, $5, whole_day(now()), now() - interval '1 minute', 1)
                    """, [.application(application), .uuid(event), .text(webhook), .text(kind), .uuid(uid)])
                let queue = server.backend.events()
                if isConfigured {
                    let taken = TakenDelivery(
                        event: event, webhook: webhook, application: application, applicationName: "demo", kind: kind,
                        uid: uid, details: [:], createdAt: Date(), attempts: 0)
                    try await queue.markFailed(taken, reason: "http-500", retryAfter: .seconds(5))
                    #expect(try await server.count("SELECT count(*) FROM webhook_deliveries") == 1, "it waits")
                    try await queue.markFailed(taken, reason: "http-500", retryAfter: nil)
                } else {
                    let count = try await queue.giveUp(allBut: [], overdue: .zero, reason: "not-configured")
                    #expect(count == kept)
                }
                #expect(try await server.count("SELECT count(*) FROM webhook_deliveries") == kept)
                let failed = try await server.count(
                    "SELECT count(*) FROM webhook_deliveries WHERE failed_at IS NOT NULL")
                #expect(failed == kept)
            }
        }
    }

    @Test func `without a subscriber no statement is sent`() async throws {
        try await TestServer.with { server in
            let nowhere = Database(.init(url: server.databaseURL), logger: Logger(label: "nowhere"))
            let store = SQLStore(
                database: nowhere, sealing: server.backend.sealer, subscriptions: NoSubscriptions(),
                revocations: server.backend.revocations)
            // The client was never started, so any statement would fail or wait.
            try await store.announce([AccountEvent(.accountMerged, of: .v7())], application: 1)
        }
    }
}
