import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// The audit as administrators read it.
struct AuditListTests {
    @Test func `an event names the account's uid while it exists, and its pseudonym afterwards`() async throws {
        try await TestServer.with(admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let person = try await api.register(at: server)
            let pseudonym = try await server.pseudonym(of: person.uid).hex
            let other = try await api.register(at: server)
            for account in [person.uid, pseudonym] {
                let answer = try await admin.get("/audit?account=\(account)")
                let items = answer["items"].array ?? []
                #expect(items.contains { $0["event"] == "account.created" }, "\(answer.text)")
                #expect(items.allSatisfy { $0["account"].string == person.uid && $0["uid"].string == person.uid })
                #expect(!answer.text.contains("@") && !answer.text.contains(other.uid))
            }
            let location = try await api.deleteAccount(person)
            try await server.makeDue()
            try await eventually("it is erased") { try await api.erasure(location)["status"] == "erased" }
            #expect(try await admin.get("/audit?account=\(person.uid)")["items"] == [])
            let erased = try await admin.get("/audit?account=\(pseudonym)")["items"].array ?? []
            #expect(!erased.isEmpty)
            #expect(erased.allSatisfy { $0["account"].string == pseudonym && $0["uid"] == .null })
            expectError(try await admin.get("/audit?account=ada"), 400, "INVALID_PARAMETER")
        }
    }

    @Test func `filters by event, actor and time can be combined`() async throws {
        try await TestServer.with(others: TestServer.photos, admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let photos = try await OperatorClient.of(server, application: "photos")
            _ = try await api.guest()
            for _ in 0..<3 { #expect(try await admin.act("/keys/rotate").status == 200) }
            #expect(try await photos.act("/keys/rotate").status == 200)
            let id = String(admin.key.dropFirst(4).prefix(16))
            for actor in [id, "key:\(id)"] {
                let items = try await admin.get("/audit?actor=\(actor)&event=keys.rotated")["items"].array ?? []
                #expect(items.count == 3 && items.allSatisfy { $0["actor"]["key"].string == id })
                #expect(items.allSatisfy { $0["details"]["reason"]["code"] == "person-asked" })
            }
            let made = try await admin.get("/audit?actor=cli:gate.example")["items"].array ?? []
            #expect(made.contains { $0["event"] == "service-key.created" })
            #expect(try await admin.get("/audit?actor=\(UUID().uuidString)")["items"] == [])
            #expect(try await admin.get("/audit?event=account.created")["items"].array?.count == 1)
            #expect(try await photos.get("/audit?event=account.created")["items"] == [])
            #expect(try await photos.get("/audit?actor=\(id)")["items"] == [])
            #expect(try await admin.get("/audit?until=2020-01-01T00:00:00Z")["items"] == [])
            #expect(try await admin.get("/audit?since=2100-01-01T00:00:00Z")["items"] == [])
            expectError(try await admin.get("/audit?since=yesterday"), 400, "INVALID_PARAMETER")
        }
    }

    @Test func `a list is read in parts, the newest events first`() async throws {
        try await TestServer.with(admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            for _ in 0..<4 { _ = try await api.guest() }
            for filter in ["", "?event=account.created"] {
                let whole = try await admin.get("/audit\(filter.isEmpty ? "?" : filter + "&")limit=200")["items"].array
                for limit in [1, 3] {
                    let parts = try await admin.all("/audit\(filter)", limit: limit)
                    #expect(parts == whole, "\(filter) \(limit)")
                }
                let times = (whole ?? []).compactMap { $0["at"].string }
                #expect(times == times.sorted(by: >) && times.count >= 4)
            }
            let cursor = try #require(try await admin.get("/audit?limit=1")["next"].string)
            expectError(
                try await admin.get("/audit?event=account.created&after=\(cursor)"), 400, "INVALID_PARAMETER")
        }
    }

    @Test func `an export has a line for each event of the application, and is an event itself`() async throws {
        try await TestServer.with(others: TestServer.photos, admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let person = try await api.register(at: server)
            _ = try await APIClient(server, application: "photos").guest()
            let answer = try await admin.get("/audit/export")
            #expect(answer.status == 200 && answer.headers.first(name: "content-type") == "application/x-ndjson")
            let lines = try answer.text.split(separator: "\n").map { line in
                try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
            }
            let application = try await server.application().id
            #expect(
                try await server.count(
                    "SELECT count(*) FROM audit_events WHERE application_id = $1", [.application(application)])
                    == lines.count)
            #expect(lines.allSatisfy { $0["application"] == "demo" })
            #expect(lines.last?["event"] == "audit.exported" && lines.last?["details"]["actor"]["key"].string != nil)
            let pseudonym = try await server.pseudonym(of: person.uid).hex
            #expect(lines.contains { $0["event"] == "account.created" && $0["account"].string == pseudonym })
            #expect(!answer.text.contains("@") && !answer.text.contains(person.uid))
            let later = try await admin.get("/audit/export?since=2100-01-01T00:00:00Z")
            #expect(later.status == 200 && later.text.isEmpty)
        }
    }

    @Test func `exports are limited by administrator`() async throws {
        try await TestServer.with(rateLimits: "{ adminExport: 2/h }", admin: OperatorClient.admin) { server in
            let admin = try await OperatorClient.of(server)
            for _ in 1...2 { #expect(try await admin.get("/audit/export").status == 200) }
            expectError(try await admin.get("/audit/export"), 429, "RATE_LIMITED")
            #expect(try await OperatorClient.of(server).get("/audit/export").status == 200)
        }
    }

    @Test func `the state says how far the audit is sealed`() async throws {
        try await TestServer.with(admin: OperatorClient.admin) { server in
            let admin = try await OperatorClient.of(server)
            _ = try await APIClient(server).guest()
            try await server.awaitSealed()
            let answer = try await admin.get("/audit/state")
            let checkpoint = try #require(answer["checkpoint"].string.flatMap { AuditCheckpoint($0) }, "\(answer.text)")
            #expect(try await server.verify(through: checkpoint).last?.seq ?? 0 >= checkpoint.seq)
            #expect(answer["batch"].integer.map { Int($0) } == checkpoint.seq)
            #expect(answer["unsealed"] == 0 && answer["sealedUpTo"].string != nil && answer["sealedAt"].string != nil)
        }
    }
}
