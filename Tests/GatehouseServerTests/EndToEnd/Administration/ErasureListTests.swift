import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Erasures as administrators see them, and asking their processors again.
struct ErasureListTests {
    @Test func `an erasure shows its processors with their attempts`() async throws {
        try await WebhookSink.with { _, _ in
            .status(500)
        } _: { sink in
            let hooks = "[\(sink.entry("account.deleted"))]"
            try await TestServer.with(webhooks: hooks, admin: OperatorClient.admin) { server in
                let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
                let person = try await api.register(at: server)
                let receipt = String(try await api.deleteAccount(person).suffix(36))
                try await eventually("it was asked") { !sink.posts.isEmpty }
                try await eventually("the failure is noted") {
                    try await server.count("SELECT count(*) FROM webhook_deliveries WHERE failure IS NOT NULL") == 1
                }
                let answer = try await admin.get("/erasures?status=scheduled")
                let erasure = try #require(answer["items"].array?.first, "\(answer.text)")
                #expect(erasure["receipt"].string == receipt && erasure["uid"].string == person.uid)
                #expect(erasure["status"] == "scheduled" && erasure["beganAt"] == .null)
                let processor = erasure["processors"].array?.first ?? .null
                #expect(processor["name"] == "127.0.0.1" && processor["status"] == "pending")
                #expect((processor["attempts"].integer ?? 0) >= 1)
                #expect(!answer.text.contains("@"))
                for status in ["restored", "erased"] {
                    #expect(try await admin.get("/erasures?status=\(status)")["items"] == [])
                }
                expectError(try await admin.get("/erasures?status=gone"), 400, "INVALID_PARAMETER")
            }
        }
    }

    @Test func `twenty retries at once ask each processor once, and are one event`() async throws {
        let isHanging = Flag()
        try await WebhookSink.with { _, _ in
            isHanging.isOn ? .hang : .status(500)
        } _: { sink in
            let hooks = "[\(sink.entry("account.deleted"))]"
            try await TestServer.with(webhooks: hooks, admin: OperatorClient.admin) { server in
                let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
                let person = try await api.register(at: server)
                let receipt = String(try await api.deleteAccount(person).suffix(36))
                try await eventually("it was asked") { !sink.posts.isEmpty }
                try await server.putOffDeliveries()
                let asked = sink.posts.count
                isHanging.turnOn()
                let pseudonym = try await server.pseudonym(of: person.uid)
                let answers = try await atOnce(20) { try await admin.act("/erasures/\(receipt)/retry") }
                // More than four calls at once are refused.
                #expect(answers.contains { $0.status == 200 })
                #expect(answers.allSatisfy { [200, 503].contains($0.status) }, "\(answers.map(\.text))")
                try await eventually("it is asked again") { sink.posts.count == asked + 1 }
                let events = try await server.audited().filter { $0.event == "erasure.retried" }
                #expect(events.count == 1 && events.first?.account == pseudonym)
                #expect(events.first?.details.keys == ["actor", "reason"])
                #expect(sink.posts.count == asked + 1)
            }
        }
    }

    @Test func `a retry that waited for the account's restoration asks no processor`() async throws {
        try await WebhookSink.with { _, _ in
            .status(500)
        } _: { sink in
            let hooks = "[\(sink.entry("account.deleted"))]"
            try await TestServer.with(webhooks: hooks, admin: OperatorClient.admin) { server in
                let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
                let person = try await api.register(at: server)
                let receipt = String(try await api.deleteAccount(person).suffix(36))
                try await eventually("it was asked") { !sink.posts.isEmpty }
                try await server.putOffDeliveries()
                let (uid, application) = (try #require(UUID(uuidString: person.uid)), try await server.application().id)
                let retry = try await server.backend.store.transaction { store in
                    #expect(try await store.restore(uid, details: [:], application: application) != nil)
                    // A write is sent together with the statement after it.
                    _ = try await store.lockAccount(uid, application: application)
                    let retry = Task { try await admin.act("/erasures/\(receipt)/retry") }
                    try await server.awaitBlocked(1)
                    return retry
                }
                let answer = try await retry.value
                #expect(answer.status == 200 && answer["status"] == "restored", "\(answer.text)")
                let withdrawn = try await server.count(
                    "SELECT count(*) FROM webhook_deliveries WHERE failed_at IS NOT NULL AND failure = 'restored'")
                #expect(withdrawn == 1)
                #expect(try await server.audited().filter { $0.event == "erasure.retried" } == [])
            }
        }
    }

    @Test func `an erasure that is over stays as it is, and another application's is unknown`() async throws {
        try await TestServer.with(others: TestServer.photos, admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let photos = try await OperatorClient.of(server, application: "photos")
            let person = try await api.register(at: server)
            let location = try await api.deleteAccount(person)
            let receipt = String(location.suffix(36))
            #expect(try await photos.get("/erasures")["items"] == [])
            for missing in [receipt, UUID().uuidString, "x"] {
                expectError(try await photos.act("/erasures/\(missing)/retry"), 404, "NOT_FOUND")
            }
            #expect(try await admin.act("/erasures/\(receipt)/retry").status == 200)
            try await server.makeDue()
            try await eventually("it is erased") { try await api.erasure(location)["status"] == "erased" }
            let over = try await admin.act("/erasures/\(receipt)/retry")
            #expect(over.status == 200 && over["status"] == "erased", "\(over.text)")
            #expect(try await admin.get("/erasures?status=erased")["items"].array?.count == 1)
            expectError(try await admin.ask("/erasures/\(receipt)/retry"), 400, "MISSING_PARAMETER")
            // Nothing was pending, so nothing was done.
            #expect(try await server.audited().filter { $0.event == "erasure.retried" } == [])
        }
    }

    @Test func `a list is read in parts, and a cursor is good for its list alone`() async throws {
        try await TestServer.with(others: TestServer.photos, admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let photos = try await OperatorClient.of(server, application: "photos")
            var receipts: [String] = []
            for _ in 0..<5 {
                let person = try await api.register(at: server)
                receipts.insert(String(try await api.deleteAccount(person).suffix(36)), at: 0)
            }
            for path in ["/erasures", "/erasures?status=scheduled"] {
                #expect(try await admin.all(path).compactMap { $0["receipt"].string } == receipts, "\(path)")
            }
            let cursor = try #require(try await admin.get("/erasures?limit=1")["next"].string)
            for wrong in ["/erasures?status=erased&after=\(cursor)", "/deliveries?after=\(cursor)"] {
                expectError(try await admin.get(wrong), 400, "INVALID_PARAMETER")
            }
            expectError(try await photos.get("/erasures?after=\(cursor)"), 400, "INVALID_PARAMETER")
            for limit in ["0", "201", "x", ""] {
                expectError(try await admin.get("/erasures?limit=\(limit)"), 400, "INVALID_PARAMETER")
            }
            for wrong in ["/audit?event=%00", "/audit?actor=a%00b", "/audit?account=", "/messages?state="] {
                expectError(try await admin.get(wrong), 400, "INVALID_PARAMETER", wrong)
            }
        }
    }
}
