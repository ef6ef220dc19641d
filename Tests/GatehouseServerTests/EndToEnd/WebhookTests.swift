import Accounts
import Administration
import Foundation
import NIOHTTP1
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Webhooks: events and their delivery.
struct WebhookTests {
    @Test func `a new account causes a signed event, which a 2xx acknowledges`() async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with(webhooks: "[\(sink.entry("account.created"))]") { server in
                let client = APIClient(server)
                let guest = try await client.guest()
                try await eventually("the event is acknowledged") {
                    try await server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL") == 1
                }
                let post = try #require(sink.posts.first)
                #expect(sink.posts.count == 1)
                #expect(post.isSigned(with: WebhookSink.secret))
                #expect(!post.isSigned(with: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx"))
                #expect(post.headers["content-type"] == "application/json")
                #expect(Int(post.headers["webhook-timestamp"] ?? "") != nil)
                #expect(post.json.keys == ["type", "timestamp", "data"])
                #expect(post.kind == "account.created")
                #expect(try Date(post.json["timestamp"].string ?? "", strategy: .iso8601Precise) <= Date())
                let data: JSONValue = [
                    "uid": .string(guest.uid), "application": "demo", "provider": "anonymous",
                ]
                #expect(post.data == data, "\(post.data)")
                let event = try #require(UUID(uuidString: post.id))
                #expect(post.id == event.text)
                let deliveries = try await server.backend.store.deliveries(
                    of: event, application: try await server.application().id)
                let delivery = try #require(deliveries.first)
                #expect(deliveries.count == 1)
                let (name, progress) = (delivery.name, delivery.progress)
                #expect(name == "127.0.0.1" && progress.attempts == 1 && progress.state == .delivered)
                // One statement creates the account and queues its event, so both have the same time.
                #expect(
                    try await server.count(
                        """
                        SELECT count(*) FROM accounts a JOIN webhook_deliveries w
                            ON w.application_id = a.application_id AND w.uid = a.uid AND w.created_at = a.created_at
                        """) == 1)
            }
        }
    }

    @Test func `deletion and restoring cause notices`() async throws {
        try await WebhookSink.with { sink in
            let hook = "[\(sink.entry("account.deleted", "account.restored"))]"
            try await TestServer.with(others: TestServer.photos, webhooks: hook) { server in
                let client = APIClient(server, application: "photos")
                let person = try await client.register(at: server)
                let deleted = try await client.delete("/auth/account", bearer: person.accessToken)
                let location = try #require(deleted.headers.first(name: "location"))
                try await eventually("the deletion is told") { sink.posts.count == 1 }
                let post = try #require(sink.posts.first)
                let receipt = String(location.suffix(36))
                #expect(post.kind == "account.deleted")
                let data: JSONValue = [
                    "uid": .string(person.uid), "application": "photos", "receipt": .string(receipt),
                ]
                #expect(post.data == data, "\(post.data)")

                let refused = try await client.login(person.email)
                let token = refused.json["error"]["details"]["restoreToken"]
                let restored = try await client.post("/auth/account/restore", ["restoreToken": token])
                #expect(restored.status == 200, "\(restored.text)")
                try await eventually("the restoring is told") { sink.posts.count == 2 }
                #expect(sink.posts[1].kind == "account.restored")
                #expect(sink.posts[1].data == ["uid": .string(person.uid), "application": "photos"])
                #expect(sink.posts.map(\.id).count == Set(sink.posts.map(\.id)).count)
                let last = try await server.backend.store.deliveries(
                    ofLast: .accountDeleted, about: try #require(UUID(uuidString: person.uid)),
                    application: try await server.count("SELECT id FROM applications WHERE name = 'photos'")
                        .asApplication)
                #expect(last.map(\.event.text) == [post.id])
            }
        }
    }

    @Test func `linked and unlinked identities cause events without addresses`() async throws {
        try await WebhookSink.with { sink in
            let hook = "[\(sink.entry("identity.linked", "identity.unlinked"))]"
            try await TestServer.with(providers: "scripted: {}", webhooks: hook) { server in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                let joined = try await client.present(.somebody("ada", email: person.email))
                #expect(joined["user"]["id"].string == person.uid)
                let payload = #"{"type":"account-deleted","sub":"ada","jti":"1"}"#
                let event = try await client.post("/auth/scripted/notifications", ["payload": .string(payload)])
                #expect(event.status == 200)
                try await eventually("both are told") { sink.posts.count == 2 }
                #expect(Set(sink.posts.map(\.kind)) == ["identity.linked", "identity.unlinked"])
                for post in sink.posts {
                    #expect(post.data.keys == ["uid", "application", "provider", "identity"])
                    #expect(post.data["uid"].string == person.uid && post.data["provider"] == "scripted")
                    #expect(!String(decoding: post.body, as: UTF8.self).contains("@"))
                }
                #expect(sink.posts[0].data["identity"] == sink.posts[1].data["identity"])
            }
        }
    }

    @Test func `each webhook receives only its subscribed events, and other events are not stored`() async throws {
        try await WebhookSink.with { first in
            try await WebhookSink.with { second in
                let hooks = "[\(first.entry("account.created", "account.deleted")), \(second.entry("account.deleted"))]"
                try await TestServer.with(webhooks: hooks) { server in
                    let client = APIClient(server)
                    let person = try await client.register(at: server)
                    _ = try await client.delete("/auth/account", bearer: person.accessToken)
                    try await eventually("everything is acknowledged") {
                        try await server.count(
                            "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL") == 3
                    }
                    #expect(Set(first.posts.map(\.kind)) == ["account.created", "account.deleted"])
                    #expect(second.posts.map(\.kind) == ["account.deleted"])
                    #expect(second.posts.map(\.id) == first.posts(of: "account.deleted").map(\.id))
                    #expect(try await server.count("SELECT count(*) FROM webhook_deliveries") == 3)
                }
            }
        }
    }

    @Test func `events that are rolled back are not delivered`() async throws {
        struct Change: Error {}
        try await WebhookSink.with { sink in
            try await TestServer.with(webhooks: "[\(sink.entry("account.merged"))]") { server in
                let application = try await server.application().id
                let (lost, kept) = (AccountEvent(.accountMerged, of: .v7()), AccountEvent(.accountMerged, of: .v7()))
                await #expect(throws: Change.self) {
                    try await server.backend.store.transaction { store in
                        try await store.announce([lost], application: application)
                        throw Change()
                    }
                }
                try await server.backend.store.transaction { store in
                    try await store.announce([kept], application: application)
                }
                try await eventually("the other is told") { !sink.posts.isEmpty }
                #expect(sink.posts.map(\.id) == [kept.id.text])
                #expect(try await server.count("SELECT count(*) FROM webhook_deliveries") == 1)
            }
        }
    }

    @Test func `several events and their details arrive as they were given`() async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with(webhooks: "[{ url: \"\(sink.url)\", secret: \(WebhookSink.secret) }]") { server in
                let application = try await server.application().id
                let details: [String: JSONValue] = [
                    "survivor": "a", "list": [1, true, .null], "uid": "somebody else", "application": "another",
                ]
                let events = AccountEvent.Kind.allCases.map { AccountEvent($0, of: .v7(), details: details) }
                try await server.backend.store.announce(events, application: application)
                try await eventually("all are told") { sink.posts.count == events.count }
                for event in events {
                    let post = try #require(sink.posts.first { $0.id == event.id.text })
                    #expect(post.kind == event.kind.rawValue)
                    let data: JSONValue = [
                        "uid": .string(event.uid.text), "application": "demo", "survivor": "a",
                        "list": [1, true, .null],
                    ]
                    #expect(post.data == data)
                }
            }
        }
    }
}

extension Int {
    fileprivate var asApplication: Application.ID { Application.ID(rawValue: Int32(truncatingIfNeeded: self)) }
}

extension ParseStrategy where Self == Date.ISO8601FormatStyle {
    fileprivate static var iso8601Precise: Self { Date.ISO8601FormatStyle(includingFractionalSeconds: true) }
}
