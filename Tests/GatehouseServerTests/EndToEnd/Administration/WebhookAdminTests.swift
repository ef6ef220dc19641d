import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Webhooks as administrators see them, test them, and have events posted to them again.
struct WebhookAdminTests {
    @Test func `a webhook shows its name and what waits for it, but no URL`() async throws {
        try await WebhookSink.with { _, _ in
            .status(500)
        } _: { sink in
            let url = sink.url.replacing("http://", with: "http://hook:secret-login@")
            let hooks = "[{ url: \"\(url)\", secret: \(WebhookSink.secret), name: crm, events: [account.created] }]"
            try await TestServer.with(webhooks: hooks, admin: OperatorClient.admin) { server in
                let admin = try await OperatorClient.of(server)
                _ = try await APIClient(server).guest()
                try await eventually("it fails") {
                    try await server.count("SELECT count(*) FROM webhook_deliveries WHERE failure IS NOT NULL") == 1
                }
                let answer = try await admin.get("/webhooks")
                let webhook = answer["items"].array?.first ?? .null
                #expect(webhook["id"] == "crm" && webhook["name"] == "crm" && webhook["host"] == "127.0.0.1")
                #expect(webhook["events"] == ["account.created"] && webhook["state"] == "failing")
                #expect(webhook["pending"] == 1 && webhook["failed"] == 0 && webhook["failure"] == "http-500")
                #expect(!answer.text.contains("secret-login") && !answer.text.contains("whsec"))
                try await server.putOffDeliveries()
                let failed = try await admin.get("/webhooks")["items"].array?.first ?? .null
                #expect(failed["pending"] == 0 && failed["failed"] == 1 && failed["state"] == "ok")
            }
        }
    }

    @Test func `a test is posted and signed, whatever the webhook subscribes to`() async throws {
        try await WebhookSink.with { _, number in
            .status(number == 0 ? 204 : 503)
        } _: { sink in
            let hooks = "[\(sink.entry("account.erased"))]"
            try await TestServer.with(webhooks: hooks, admin: OperatorClient.admin) { server in
                let admin = try await OperatorClient.of(server)
                let id = try #require(try await admin.get("/webhooks")["items"].array?.first?["id"].string)
                let answer = try await admin.act("/webhooks/\(id)/test")
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer["delivered"] == true && answer["failure"] == .null)
                let post = try #require(sink.posts.first)
                #expect(post.kind == "gatehouse.test" && post.data == ["application": "demo"])
                #expect(post.isSigned(with: WebhookSink.secret) && post.id == answer["event"].string)
                let failed = try await admin.act("/webhooks/\(id)/test")
                #expect(failed["delivered"] == false && failed["failure"] == "http-503")
                expectError(try await admin.act("/webhooks/unknown/test"), 404, "NOT_FOUND")
                let events = try await server.audited().filter { $0.event == "webhook.tested" }
                #expect(events.count == 2 && events.first?.details["webhook"] == "127.0.0.1")
                #expect(try await server.count("SELECT count(*) FROM webhook_deliveries") == 0)
            }
        }
    }

    @Test func `a private address is not reached where that is not allowed`() async throws {
        try await WebhookSink.with { sink in
            let hooks = "[\(sink.entry("account.erased"))]"
            try await TestServer.with(webhooks: hooks, network: "allowPrivateHosts: false", admin: OperatorClient.admin)
            {
                server in
                let answer = try await OperatorClient.of(server).act("/webhooks/127.0.0.1/test")
                #expect(answer.status == 200 && answer["delivered"] == false, "\(answer.text)")
                #expect(sink.posts.isEmpty)
            }
        }
    }

    @Test func `kept events are posted again with their ids, as the range and the types say`() async throws {
        try await WebhookSink.with { sink in
            let hooks = "[\(sink.entry("account.created", "account.deleted"))]"
            try await TestServer.with(webhooks: hooks, admin: OperatorClient.admin) { server in
                let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
                for _ in 0..<3 { _ = try await api.guest() }
                let person = try await api.register(at: server)
                try await api.deleteAccount(person)
                try await eventually("all are acknowledged") {
                    try await server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL") == 5
                }
                let first = sink.posts
                let range: [String: JSONValue] = ["since": "2020-01-01T00:00:00Z", "until": "2100-01-01T00:00:00Z"]
                let created = range.merging(["types": ["account.created"]]) { $1 }
                let answer = try await admin.act("/webhooks/127.0.0.1/replay", created)
                #expect(answer.status == 202 && answer["events"] == 4, "\(answer.text)")
                try await eventually("they arrive") { sink.posts.count == 9 }
                let again = sink.posts.dropFirst(5)
                #expect(Set(again.map(\.id)) == Set(first.filter { $0.kind == "account.created" }.map(\.id)))
                #expect(Set(again.map(\.body)) == Set(first.filter { $0.kind == "account.created" }.map(\.body)))
                let past: [String: JSONValue] = ["since": "2020-01-01T00:00:00Z", "until": "2021-01-01T00:00:00Z"]
                #expect(try await admin.act("/webhooks/127.0.0.1/replay", past)["events"] == 0)
                let events = try await server.audited().filter { $0.event == "webhook.replayed" }
                #expect(events.count == 1 && events.first?.details["events"] == 4)
                #expect(events.first?.details["reason"]["ticket"] == "T-1")
            }
        }
    }

    @Test func `wrong ranges and types are refused, and events of other applications are left alone`() async throws {
        try await WebhookSink.with { sink in
            let hooks = "[\(sink.entry("account.created"))]"
            try await TestServer.with(others: TestServer.photos, webhooks: hooks, admin: OperatorClient.admin) {
                server in
                _ = try await APIClient(server).guest()
                try await eventually("it is acknowledged") {
                    try await server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL") == 1
                }
                let photos = try await OperatorClient.of(server, application: "photos")
                let (since, until): (JSONValue, JSONValue) = ("2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z")
                let path = "/webhooks/127.0.0.1/replay"
                #expect(try await photos.act(path, ["since": since, "until": until])["events"] == 0)
                for wrong: [String: JSONValue] in [
                    ["since": until, "until": since], ["since": since, "until": until, "types": ["account.gone"]],
                    ["since": "yesterday", "until": until],
                ] {
                    expectError(try await photos.act(path, wrong), 400, "INVALID_PARAMETER")
                }
                expectError(try await photos.act(path, ["until": until]), 400, "MISSING_PARAMETER")
                #expect(sink.posts.count == 1)
            }
        }
    }

    @Test func `a deletion waits for the new acknowledgement, and an erased account's is not posted again`()
        async throws
    {
        let isHanging = Flag()
        try await WebhookSink.with { _, _ in
            isHanging.isOn ? .hang : .status(204)
        } _: { sink in
            let hooks = "[\(sink.entry("account.deleted"))]"
            try await TestServer.with(webhooks: hooks, admin: OperatorClient.admin) { server in
                let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
                let (erased, kept) = (try await api.register(at: server), try await api.register(at: server))
                let location = try await api.deleteAccount(erased)
                try await eventually("it is acknowledged") {
                    try await api.erasure(location)["processors"].array?.first?["status"] == "acknowledged"
                }
                try await server.makeDue()
                try await eventually("it is erased") { try await api.erasure(location)["status"] == "erased" }
                let second = try await api.deleteAccount(kept)
                try await eventually("it is acknowledged") {
                    try await api.erasure(second)["processors"].array?.first?["status"] == "acknowledged"
                }
                isHanging.turnOn()
                let range: [String: JSONValue] = ["since": "2020-01-01T00:00:00Z", "until": "2100-01-01T00:00:00Z"]
                #expect(try await admin.act("/webhooks/127.0.0.1/replay", range)["events"] == 1)
                let processor = try await api.erasure(second)["processors"].array?.first ?? .null
                #expect(processor["status"] == "pending")
            }
        }
    }
}
