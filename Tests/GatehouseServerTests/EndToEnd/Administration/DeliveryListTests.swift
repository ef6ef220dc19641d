import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Deliveries and messages as administrators see them, and sending them again.
struct DeliveryListTests {
    @Test func `deliveries are listed by state, without URLs, in parts`() async throws {
        try await WebhookSink.with { first in
            try await WebhookSink.with { _, _ in
                .status(500)
            } _: { second in
                let hooks = "[\(first.entry("account.created")), \(second.entry("account.created"))]"
                try await TestServer.with(webhooks: hooks, admin: OperatorClient.admin) { server in
                    let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
                    var people: [String] = []
                    for _ in 0..<3 { people.append(try await api.guest().uid) }
                    try await eventually("one half is acknowledged, the other fails") {
                        try await server.count(
                            """
                            SELECT count(*) FROM webhook_deliveries
                             WHERE acknowledged_at IS NOT NULL OR failure IS NOT NULL
                            """) == 6
                    }
                    try await server.putOffDeliveriesOfFailures()
                    for limit in [1, 2, 3, 5, 200] {
                        let items = try await admin.all("/deliveries", limit: limit)
                        #expect(items.count == 6, "\(limit)")
                        #expect(Set(items.compactMap { $0["uid"].string }) == Set(people))
                        #expect(Set(items.map { "\($0["event"])\($0["state"])" }).count == 6, "\(limit)")
                    }
                    let failed = try await admin.get("/deliveries?state=failed")
                    #expect(failed["items"].array?.count == 3, "\(failed.text)")
                    let item = failed["items"].array?.first ?? .null
                    #expect(item["type"] == "account.created" && item["failure"] == "http-500")
                    #expect(item["failedAt"].string != nil && item["dueAt"] == .null && item["deliveredAt"] == .null)
                    #expect(!failed.text.contains("/hooks"))
                    #expect(try await admin.all("/deliveries?state=delivered").count == 3)
                    #expect(try await admin.all("/deliveries?state=pending").isEmpty)
                }
            }
        }
    }

    @Test func `twenty retries of an event at once are one event in the audit`() async throws {
        let isHanging = Flag()
        try await WebhookSink.with { _, _ in
            isHanging.isOn ? .hang : .status(500)
        } _: { sink in
            let hooks = "[\(sink.entry("account.created"))]"
            try await TestServer.with(others: TestServer.photos, webhooks: hooks, admin: OperatorClient.admin) {
                server in
                let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
                let photos = try await OperatorClient.of(server, application: "photos")
                let guest = try await api.guest()
                try await eventually("it was posted, and the failure is stored") {
                    try await server.count("SELECT count(*) FROM webhook_deliveries WHERE failure IS NOT NULL") == 1
                }
                try await server.putOffDeliveries()
                let (event, posted) = (try #require(sink.posts.first?.id), sink.posts.count)
                for missing in [event, UUID().uuidString, "x"] {
                    expectError(try await photos.act("/deliveries/\(missing)/retry"), 404, "NOT_FOUND")
                }
                isHanging.turnOn()
                let pseudonym = try await server.pseudonym(of: guest.uid)
                let answers = try await atOnce(20) { try await admin.act("/deliveries/\(event)/retry") }
                #expect(answers.contains { $0.status == 200 })
                #expect(answers.allSatisfy { [200, 503].contains($0.status) }, "\(answers.map(\.text))")
                try await eventually("it is posted again") { sink.posts.count == posted + 1 }
                let events = try await server.audited().filter { $0.event == "delivery.retried" }
                #expect(events.count == 1 && events.first?.account == pseudonym)
                #expect(events.first?.details["type"] == "account.created")
                #expect(!"\(events)".contains(event))
                sink.release()
                try await eventually("it is acknowledged") {
                    try await server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL") == 1
                }
                let again = try await admin.act("/deliveries/\(event)/retry")
                #expect(again.status == 200 && again["items"].array?.first?["state"] == "delivered", "\(again.text)")
                #expect(try await server.audited().count { $0.event == "delivery.retried" } == 1)
            }
        }
    }

    @Test func `messages are listed without address, text or code`() async throws {
        try await TestServer.with(admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let person = try await api.register(at: server)
            _ = try await api.challenge("email", person.email, at: server)
            try await eventually("all are sent") {
                try await server.count("SELECT count(*) FROM outbox WHERE sent_at IS NULL") == 0
            }
            let answer = try await admin.get("/messages")
            let types = answer["items"].array?.compactMap { $0["type"].string }
            #expect(types?.prefix(2) == ["signInCode", "confirmRegistration"], "\(answer.text)")
            let item = answer["items"].array?.first ?? .null
            let keys: Set = [
                "id", "type", "channel", "state", "attempts", "failure", "createdAt", "dueAt", "deliveredAt",
                "failedAt",
            ]
            #expect(item.keys == keys && item["state"] == "delivered" && item["attempts"] == 1)
            #expect(!answer.text.contains("@"))
            let id = try #require(item["id"].string)
            let again = try await admin.act("/messages/\(id)/retry")
            #expect(again.status == 200 && again["state"] == "delivered", "\(again.text)")
            #expect(try await server.audited().allSatisfy { $0.event != "message.retried" })
        }
    }

    @Test func `a message that was given up is attempted again`() async throws {
        try await TestServer.with(others: TestServer.photos, admin: OperatorClient.admin) { server in
            let admin = try await OperatorClient.of(server)
            let photos = try await OperatorClient.of(server, application: "photos")
            // A row as a refusal leaves it: given up, with the failure, and still sealed.
            try await server.execute(
                """
                INSERT INTO outbox (application_id, id, topic, sealed, failed_at, failure, attempts)
                SELECT id, '01900000-0000-7000-8000-000000000001', 'resetPassword', '\\x00', now(), 'smtp-550', 1
                  FROM applications WHERE name = 'demo'
                """)
            let failed = try await admin.get("/messages?state=failed")
            let id = try #require(failed["items"].array?.first?["id"].string, "\(failed.text)")
            #expect(failed["items"].array?.first?["failure"] == "smtp-550")
            for missing in [id, UUID().uuidString, "x"] {
                expectError(try await photos.act("/messages/\(missing)/retry"), 404, "NOT_FOUND")
            }
            let answer = try await admin.act("/messages/\(id)/retry")
            #expect(answer.status == 200 && answer["id"].string == id, "\(answer.text)")
            // The worker takes it again, and finds that it can't be opened.
            try await eventually("it is attempted") {
                try await server.text("SELECT failure FROM outbox WHERE topic = 'resetPassword'") == "unreadable"
            }
            let events = try await server.audited().filter { $0.event == "message.retried" }
            #expect(events.count == 1 && events.first?.details["type"] == "resetPassword")
        }
    }
}

extension TestServer {
    /// Gives up the deliveries that have failed.
    fileprivate func putOffDeliveriesOfFailures() async throws {
        try await eventually("no delivery is under way") {
            try await execute(
                """
                UPDATE webhook_deliveries SET failed_at = now()
                 WHERE leased_until IS NULL AND acknowledged_at IS NULL AND failure IS NOT NULL
                """)
            return try await count(
                "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NULL AND failed_at IS NULL") == 0
        }
    }
}
