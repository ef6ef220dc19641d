import Accounts
import Administration
import Delivery
import Foundation
import GatehouseTesting
import Migrations
import ProviderKit
import Testing

@testable import GatehouseServer

/// Roles of people, which commands grant.
struct AdminGrantTests {
    private func grants(_ server: TestServer) async throws -> AdminGrants {
        AdminGrants(store: server.backend.store, home: try await server.application())
    }

    private func uid(_ person: Person) throws -> UUID { try #require(UUID(uuidString: person.uid)) }

    @Test func `the last owner stays`() async throws {
        try await TestServer.with { server in
            let (client, grants) = (APIClient(server), try await grants(server))
            let (ada, bob) = (try await client.register(at: server), try await client.register(at: server))
            try await grants.grant(.owner, to: uid(ada), on: nil, by: TestServer.operations)
            await #expect(throws: AdministrationError.lastOwner) {
                try await grants.revoke(uid(ada), on: nil, by: TestServer.operations)
            }
            await #expect(throws: AdministrationError.lastOwner) {
                try await grants.grant(.support, to: uid(ada), on: nil, by: TestServer.operations)
            }
            try await grants.grant(.owner, to: uid(bob), on: nil, by: TestServer.operations)
            try await server.setDisabled(true, bob)
            await #expect(throws: AdministrationError.lastOwner) {
                try await grants.revoke(uid(ada), on: nil, by: TestServer.operations)
            }
            try await server.setDisabled(false, bob)
            try await grants.revoke(uid(ada), on: nil, by: TestServer.operations)
            #expect(try await grants.list().map(\.uid) == [uid(bob)])
        }
    }

    @Test func `of two owners who revoke each other one stays`() async throws {
        for _ in 0..<5 {
            try await TestServer.with { server in
                let (client, grants) = (APIClient(server), try await grants(server))
                let people = [try await client.register(at: server), try await client.register(at: server)]
                for person in people {
                    try await grants.grant(.owner, to: uid(person), on: nil, by: TestServer.operations)
                }
                await withTaskGroup(of: Void.self) { group in
                    for person in people {
                        group.addTask {
                            try? await grants.revoke(uid(person), on: nil, by: TestServer.operations)
                        }
                    }
                }
                #expect(try await grants.list().count == 1)
            }
        }
    }

    @Test func `a grant is recorded once, and every owner is told`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let (client, grants) = (APIClient(server), try await grants(server))
            let (ada, bob) = (try await client.register(at: server), try await client.register(at: server))
            try await grants.grant(.owner, to: uid(ada), on: nil, by: TestServer.operations)
            let photos = try await server.application(named: "photos")
            let events = try await server.audited {
                for _ in 0..<2 {
                    try await grants.grant(.support, to: uid(bob), on: photos, by: TestServer.operations)
                }
            }
            #expect(events.map(\.event) == ["admin.granted"])
            #expect(events.first?.details["role"] == "support" && events.first?.details["on"] == "photos")
            #expect(events.first?.details["actor"]["cli"] == "gate.example")
            for person in [ada, bob] {
                try await eventually("the owner is told") {
                    server.inbox.messages().contains {
                        $0.to == person.email && $0.text.contains("support of photos")
                    }
                }
            }
            #expect(try await grants.list(on: photos).count == 2)
            try await grants.revoke(uid(bob), on: photos, by: TestServer.operations)
            let revoked = try await server.audited().last
            #expect(revoked?.event == "admin.revoked" && revoked?.details["on"] == "photos")
            let whole = try await server.audited {
                try await grants.grant(.auditor, to: uid(bob), on: nil, by: TestServer.operations)
            }
            #expect(whole.first?.details["on"] == "all")
        }
    }

    @Test func `a role for all applications is not revoked for one, and the reason names the command`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let (client, grants) = (APIClient(server), try await grants(server))
            let bob = try await client.register(at: server)
            let photos = try await server.application(named: "photos")
            let none = try await server.audited {
                try await grants.revoke(uid(bob), on: photos, by: TestServer.operations)
            }
            #expect(none.isEmpty, "without a role, nothing changes")
            try await grants.grant(.auditor, to: uid(bob), on: nil, by: TestServer.operations)
            do {
                try await grants.revoke(uid(bob), on: photos, by: TestServer.operations)
                Issue.record("the role is still there")
            } catch AdministrationError.wrongState(let reason) {
                #expect(reason.hasSuffix("gatehouse admin revoke \(bob.uid) --on all"))
            }
            #expect(try await grants.list().map(\.uid) == [uid(bob)])
            try await grants.grant(.auditor, to: uid(bob), on: photos, by: TestServer.operations)
            try await grants.revoke(uid(bob), on: photos, by: TestServer.operations)
            for _ in 1...2 { try await grants.revoke(uid(bob), on: nil, by: TestServer.operations) }
            #expect(try await grants.list().isEmpty)
        }
    }

    @Test func `only a live account can be granted a role`() async throws {
        try await TestServer.with { server in
            let (client, grants) = (APIClient(server), try await grants(server))
            let ada = try await client.register(at: server)
            try await server.setDisabled(true, ada)
            for uid in [try uid(ada), UUID()] {
                await #expect(throws: AdministrationError.accountNotFound) {
                    try await grants.grant(.auditor, to: uid, on: nil, by: TestServer.operations)
                }
            }
        }
    }

    @Test func `the command line grants, lists and revokes, and makes keys`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database, admin: "{ application: demo }") { server in
            let client = APIClient(server)
            let ada = try await client.register(at: server)
            try await ProcessDirectory.with { directory in
                var file = ServerFile(database: database)
                file.delivery = "admin: { application: demo }"
                func run(_ words: String...) async throws -> (status: Int32, output: String, errors: [String]) {
                    let outcome = try await file.run(["admin"] + words, in: directory)
                    return (outcome.status, outcome.output, outcome.errorLines)
                }
                let granted = try await run("grant", ada.uid, "--role", "owner", "--on", "all")
                #expect(granted.status == 0 && granted.output == "granted\n", "\(granted.errors)")
                let again = try await run("grant", ada.uid, "--role", "owner", "--on", "all")
                #expect(again.status == 0 && again.output == "unchanged\n", "\(again.errors)")
                let listed = try await run("list")
                #expect(listed.output.contains("\"on\":\"all\"") && listed.output.contains("\"role\":\"owner\""))
                let last = try await run("revoke", ada.uid, "--on", "all")
                #expect(
                    last.status == 1
                        && last.errors == ["gatehouse: The last owner of all applications can't be taken away"])
                let elsewhere = try await run("revoke", ada.uid, "--on", "demo")
                #expect(elsewhere.status == 1 && elsewhere.errors == last.errors)
                let role = try await run("grant", ada.uid, "--role", "king", "--on", "all")
                #expect(role.status == 1 && role.errors.first?.contains("--role") == true)
                let made = try await run("key", "create", "--name", "support", "--scopes", "accounts:read,audit:read")
                let key = made.output.trimmingCharacters(in: .newlines)
                #expect(try await client.get("/admin/me", bearer: key).status == 200, "\(made.errors)")
                let keys = try await run("key", "list")
                #expect(keys.output.contains("\"name\":\"support\"") && !keys.output.contains(key))
                let id = String(key.dropFirst(4).prefix(16))
                #expect(try await run("key", "revoke", id).output == "revoked\n")
                expectError(try await client.get("/admin/me", bearer: key), 401, "INVALID_TOKEN")
                let scope = try await run("key", "create", "--name", "x", "--scopes", "admins:write")
                #expect(scope.status == 1 && scope.errors.first?.contains("--scopes") == true)
                file.delivery = ""
                let none = try await run("list")
                #expect(none.status == 1 && none.errors.first?.contains("section `admin`") == true)
            }
        }
    }

    @Test func `the command line lists the keys of all applications, and revokes a key by its id alone`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(
            database: database, others: TestServer.photos, admin: "{ application: demo }"
        ) { server in
            let key = try await server.serviceKey([.readAudit], of: "photos")
            _ = try await server.serviceKey([.readAudit])
            try await ProcessDirectory.with { directory in
                var file = ServerFile(database: database)
                file.delivery = "admin: { application: demo }"
                file.others = TestServer.photos
                let listed = try await file.run(["admin", "key", "list"], in: directory)
                let lines = listed.output.split(separator: "\n").compactMap {
                    try? JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
                }
                #expect(Set(lines.map { $0["application"].string }) == ["demo", "photos"], "\(listed.errorLines)")
                let one = try await file.run(["admin", "key", "list", "--application", "photos"], in: directory)
                #expect(one.output.contains("\"photos\"") && !one.output.contains("\"demo\""))
                let id = String(key.dropFirst(4).prefix(16))
                let revoked = try await file.run(["admin", "key", "revoke", id], in: directory)
                #expect(revoked.output == "revoked\n", "\(revoked.errorLines)")
                let photos = APIClient(server, application: "photos")
                expectError(try await photos.get("/admin/me", bearer: key), 401, "INVALID_TOKEN")
                for unknown in ["x", String(repeating: "a", count: 16)] {
                    let refused = try await file.run(["admin", "key", "revoke", unknown], in: directory)
                    #expect(refused.status == 1 && refused.errorLines == ["gatehouse: There is no such key"])
                }
            }
        }
    }
}
