import Accounts
import Administration
import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The life of a service key: its form, its secret, rotation and revocation.
struct ServiceKeyTests {
    private static let admin = "{ application: demo, serviceKeys: { longest: 30d } }"

    @Test func `a key says who calls and what it may do`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let client = APIClient(server)
            let key = try await server.serviceKey([.readAudit, .readAccounts])
            let me = try await client.get("/admin/me", bearer: key)
            #expect(me.status == 200, "\(me.text)")
            #expect(me["application"] == "demo" && me["scopes"] == ["accounts:read", "audit:read"])
            #expect(me["actor"]["key"].string == String(key.dropFirst(4).prefix(16)))
            #expect(me["expiresAt"].string?.isEmpty == false)
        }
    }

    @Test func `a text of another form is refused without the database`() async throws {
        let application = Application.ID(rawValue: 7)
        let secret = ServiceKeySecret(for: application)
        #expect(secret.text.wholeMatch(of: /ghk_[a-z2-7]{16}_[A-Za-z0-9_-]{43}_[0-9a-f]{8}/) != nil)
        let read = try #require(ServiceKeySecret(secret.text))
        #expect(read.application == application && read.id == secret.id && read.hash == secret.hash)
        // Every change of one character breaks the form or the checksum.
        let bytes = Array(secret.text.utf8)
        for index in bytes.indices {
            var changed = bytes
            changed[index] = changed[index] == UInt8(ascii: "a") ? UInt8(ascii: "b") : UInt8(ascii: "a")
            #expect(ServiceKeySecret(String(decoding: changed, as: UTF8.self)) == nil, "\(index)")
        }
        for text in ["", "ghk_", secret.text + "a", String(secret.text.dropLast()), String(repeating: "é", count: 36)] {
            #expect(ServiceKeySecret(text) == nil, "\(text)")
        }
    }

    @Test func `an expired, revoked, unknown or misplaced key is refused alike`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let client = APIClient(server)
            let key = try await server.serviceKey(lifetime: .seconds(1))
            let elsewhere = try await server.serviceKey(clients: ["10.0.0.0/8"])
            let person = try await client.register(at: server)
            try await server.execute("UPDATE service_keys SET expires_at = now() WHERE clients = '{}'")
            let unknown = ServiceKeySecret(for: try await server.application().id).text
            var answers: [String] = []
            for bearer in [key, elsewhere, unknown, "ghk_x", person.accessToken] {
                let answer = try await client.get("/admin/me", bearer: bearer)
                expectError(answer, 401, "INVALID_TOKEN")
                answers.append(answer.message)
            }
            #expect(Set(answers).count == 1)
            expectError(try await client.get("/admin/me"), 401, "INVALID_TOKEN")
        }
    }

    @Test func `the database has only a hash, and the audit names the key by its id`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let key = try await server.serviceKey([.readAudit])
            _ = try await APIClient(server).get("/admin/me", bearer: key)
            let rows = try await server.count("SELECT count(*) FROM service_keys WHERE last_used_at IS NOT NULL")
            #expect(rows == 1)
            let dump = try await server.dump()
            let secret = String(key.dropFirst(21).prefix(43))
            #expect(!dump.contains(secret) && dump.contains(key.dropFirst(4).prefix(16)))
            let made = try #require(try await server.audited().last { $0.event == "service-key.created" })
            #expect(made.details["scopes"] == ["audit:read"] && made.details["actor"]["cli"] == "gate.example")
        }
    }

    @Test func `a rotated key's former secret counts during the overlap`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let (client, application) = (APIClient(server), try await server.application())
            let keys = ServiceKeys(store: server.backend.store, limits: nil)
            let first = try await server.serviceKey([.readAudit])
            let id = String(first.dropFirst(4).prefix(16))
            let second = try await keys.rotate(
                id, replacing: keys.secretHash(of: id, in: application), overlap: .seconds(3600),
                by: TestServer.operations, in: application
            ).text
            for key in [first, second] {
                try await server.execute("UPDATE service_keys SET last_used_at = NULL")
                #expect(try await client.get("/admin/me", bearer: key).status == 200)
                #expect(try await server.count("SELECT count(*) FROM service_keys WHERE last_used_at IS NOT NULL") == 1)
            }
            let third = try await keys.rotate(
                id, replacing: keys.secretHash(of: id, in: application), overlap: .zero, by: TestServer.operations,
                in: application
            ).text
            for key in [first, second] {
                expectError(try await client.get("/admin/me", bearer: key), 401, "INVALID_TOKEN")
            }
            #expect(try await client.get("/admin/me", bearer: third).status == 200)
        }
    }

    @Test func `of twenty rotations at once one succeeds, and of twenty revocations one is recorded`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let (client, application) = (APIClient(server), try await server.application())
            let keys = ServiceKeys(store: server.backend.store, limits: nil)
            let first = try await server.serviceKey([.readAudit])
            let id = String(first.dropFirst(4).prefix(16))
            let before = try await server.audited().count
            let seen = try await keys.secretHash(of: id, in: application)
            let secrets = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        do {
                            return try await keys.rotate(
                                id, replacing: seen, overlap: .zero, by: TestServer.operations, in: application
                            ).text
                        } catch AdministrationError.wrongState {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: [String]()) { all, text in text.map { all.append($0) } }
            }
            #expect(secrets.count == 1)
            for secret in secrets { #expect(try await client.get("/admin/me", bearer: secret).status == 200) }
            let rotated = try await server.audited().dropFirst(before).count { $0.event == "service-key.rotated" }
            #expect(rotated == secrets.count)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { _ = try await keys.revoke(id, by: TestServer.operations, in: application) }
                }
                try await group.waitForAll()
            }
            #expect(try await server.audited().count { $0.event == "service-key.revoked" } == 1)
            for secret in secrets {
                expectError(try await client.get("/admin/me", bearer: secret), 401, "INVALID_TOKEN")
            }
        }
    }

    @Test func `a revoked key is refused by another replica at once`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database, admin: Self.admin) { server in
            try await TestServer.with(database: database, admin: Self.admin) { replica in
                let key = try await server.serviceKey([.readAudit])
                #expect(try await APIClient(replica).get("/admin/me", bearer: key).status == 200)
                let id = String(key.dropFirst(4).prefix(16))
                _ = try await ServiceKeys(store: server.backend.store, limits: nil)
                    .revoke(id, by: TestServer.operations, in: server.application())
                expectError(try await APIClient(replica).get("/admin/me", bearer: key), 401, "INVALID_TOKEN")
            }
        }
    }

    @Test func `the standard limits of clients let a key reach its own`() async throws {
        let limits = RatePolicy.standard
        let (ofClients, ofKeys) = (try #require(limits[.adminClient]), try #require(limits[.adminKey]))
        #expect(ofClients.window == ofKeys.window && ofClients.count > ofKeys.count)
        // The limit of routes, which is lower, does not count these calls.
        try await TestServer.with(rateLimits: "{ general: 2/h, adminClient: 4/h }", admin: Self.admin) { server in
            let (client, key) = (APIClient(server), try await server.serviceKey([.readAudit]))
            for _ in 0..<3 { #expect(try await client.get("/admin/me", bearer: key).status == 200) }
            expectError(try await client.get("/admin/me", bearer: "ghk_guess"), 401, "INVALID_TOKEN")
            expectError(try await client.get("/admin/audit/state", bearer: key), 429, "RATE_LIMITED")
            #expect(try await client.get("/auth/providers").status == 200)
        }
    }

    @Test func `a note is refused where no account is acted on`() async throws {
        try await TestServer.with(providers: "scripted: {}", admin: Self.admin) { server in
            let (client, key) = (APIClient(server), try await server.serviceKey())
            let plan = try await client.plan("scripted", "off", key)
            let noted: JSONValue = ["code": "test", "note": "about somebody"]
            for answer in [
                try await client.switchProvider("scripted", plan, key, ["reason": noted]),
                try await client.post("/admin/providers/scripted/switch/end", ["reason": noted], bearer: key),
                try await client.post(
                    "/admin/invitations", ["email": "ada@example.com", "reason": noted], bearer: key),
            ] { expectError(answer, 400, "INVALID_PARAMETER", "\(answer.text)") }
            #expect(try await client.switchProvider("scripted", plan, key).status == 200, "the plan was not used up")
        }
    }

    @Test func `keys have limits`() async throws {
        try await TestServer.with(rateLimits: "{ adminKey: 2/h }", admin: Self.admin) { server in
            let client = APIClient(server)
            let key = try await server.serviceKey([.readAudit])
            for _ in 0..<2 { #expect(try await client.get("/admin/me", bearer: key).status == 200) }
            expectError(try await client.get("/admin/me", bearer: key), 429, "RATE_LIMITED")
            let other = try await server.serviceKey([.readAudit])
            #expect(try await client.get("/admin/me", bearer: other).status == 200)
        }
    }

    @Test(arguments: [
        ("name", "", [AdminScope.readAudit], [String](), 60), ("scopes", "x", [], [], 60),
        ("scopes", "x", [.writeAdmins], [], 60), ("scopes", "x", [.recoverAccounts], [], 60),
        ("allow", "x", [.readAudit], ["nowhere"], 60), ("expiresIn", "x", [.readAudit], [], 31 * 86_400),
        ("expiresIn", "x", [.readAudit], [], 0),
    ])
    func `a key that must not be is refused`(
        field: String, name: String, scopes: [AdminScope], clients: [String], seconds: Int
    ) async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let keys = ServiceKeys(store: server.backend.store, limits: nil)
            await #expect {
                _ = try await keys.make(
                    named: name, scopes: Set(scopes), clients: clients, lifetime: .seconds(seconds),
                    longest: .seconds(30 * 86_400), by: TestServer.operations, in: server.application())
            } throws: { error in
                guard case AccountsError.invalidParameter(field, _) = error else { return false }
                return true
            }
        }
    }
}
