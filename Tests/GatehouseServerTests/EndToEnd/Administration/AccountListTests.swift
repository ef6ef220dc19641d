import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// The list of an application's accounts.
struct AccountListTests {
    /// One account of each state, and one more that is live.
    private struct People {
        let live, guest, disabled, deleted, absorbed, survivor: Person

        init(_ client: APIClient, at server: TestServer) async throws {
            survivor = try await client.register(at: server)
            guest = try await client.guest()
            absorbed = try await client.newcomer("absorbed")
            let ticket = try await client.ticket(.somebody("absorbed"), bearer: survivor.accessToken)
            #expect(try await client.merge(ticket, bearer: survivor.accessToken).status == 200)
            disabled = try await client.register(at: server)
            try await server.setDisabled(true, disabled)
            deleted = try await client.newcomer()
            #expect(try await client.delete("/auth/account", bearer: deleted.accessToken).status / 100 == 2)
            live = try await client.newcomer()
        }

        /// By their creation, the newest first.
        var all: [Person] { [live, deleted, disabled, absorbed, guest, survivor] }
    }

    private func uids(_ client: APIClient, _ query: String, key: String) async throws -> [String] {
        let answer = try await client.get("/admin/accounts" + query, bearer: key)
        #expect(answer.status == 200, "\(query): \(answer.text)")
        return answer["items"].array?.compactMap { $0["uid"].string } ?? []
    }

    @Test func `each account is in the list of all and in that of its state`() async throws {
        try await TestServer.reading { server, client, key in
            let people = try await People(client, at: server)
            #expect(try await uids(client, "", key: key) == people.all.map(\.uid))
            let states: [(String, [Person])] = [
                ("live", [people.live, people.survivor]), ("guest", [people.guest]), ("disabled", [people.disabled]),
                ("deleted", [people.deleted]), ("absorbed", [people.absorbed]),
            ]
            for (state, people) in states {
                let answer = try await client.get("/admin/accounts?status=\(state)", bearer: key)
                let items = answer["items"].array ?? []
                #expect(items.map { $0["uid"].string } == people.map(\.uid), "\(state): \(answer.text)")
                #expect(items.allSatisfy { $0["status"].string == state && $0["matchedBy"] == .null })
                #expect(answer["next"] == .null)
            }
            for query in ["?status=any", "?createdAfter=yesterday", "?createdBefore=1", "?provider=%00", "?limit=0"] {
                let refused = try await client.get("/admin/accounts" + query, bearer: key)
                expectError(refused, 400, "INVALID_PARAMETER", query)
            }
        }
    }

    @Test func `a provider selects the accounts that have an identity of it`() async throws {
        try await TestServer.reading { server, client, key in
            let people = try await People(client, at: server)
            // The second identity of one provider does not list the account twice.
            let linked = try await client.link(.somebody(), bearer: people.live.accessToken)
            #expect(linked.status == 200, "\(linked.text)")
            let lists: [(String, [Person])] = [
                ("?provider=scripted", [people.live, people.deleted, people.survivor]),
                ("?provider=email", [people.disabled, people.survivor]), ("?provider=google", []),
                ("?provider=scripted&status=live", [people.live, people.survivor]),
                ("?provider=scripted&status=deleted", [people.deleted]),
                ("?provider=email&status=deleted", []), ("?provider=email&status=disabled", [people.disabled]),
                ("?provider=anonymous&status=guest", [people.guest]), ("?provider=anonymous&status=live", []),
            ]
            for (query, people) in lists {
                #expect(try await uids(client, query, key: key) == people.map(\.uid), "\(query)")
                let parts = try await client.parts(of: "/admin/accounts" + query, limit: 1, key: key)
                #expect(parts.flatMap { $0 }.map { $0["uid"].string } == people.map(\.uid), "\(query)")
            }
        }
    }

    @Test func `a range of times selects the accounts that were created in it`() async throws {
        try await TestServer.reading { server, client, key in
            var people: [String] = []
            for number in 1...3 {
                let person = try await client.newcomer()
                people.append(person.uid)
                // Uids begin with the time of creation, which the list by provider relies on.
                try await server.age(
                    "accounts", "created_at", by: "\(60 * (4 - number)) minutes", where: "uid = '\(person.uid)'")
            }
            func time(_ hours: Double) -> String { Date(timeIntervalSinceNow: -hours * 3600).ISO8601Format() }
            for more in ["", "&provider=scripted", "&status=live"] {
                let lists = [
                    ("?createdAfter=\(time(2.5))", [people[2], people[1]]),
                    ("?createdBefore=\(time(1.5))", [people[1], people[0]]),
                    ("?createdAfter=\(time(2.5))&createdBefore=\(time(1.5))", [people[1]]),
                    ("?createdAfter=2000-01-01T00:00:00Z&createdBefore=2001-01-01T00:00:00.000Z", []),
                    ("?createdAfter=0000-01-01T00:00:00Z&createdBefore=9999-12-31T23:59:59Z", people.reversed()),
                ]
                for (query, expected) in lists {
                    let parts = try await client.parts(of: "/admin/accounts" + query + more, limit: 1, key: key)
                    #expect(parts.flatMap { $0 }.map { $0["uid"].string ?? "" } == expected, "\(query)\(more)")
                }
            }
        }
    }

    @Test(arguments: ["", "&provider=scripted", "&status=live"])
    func `new accounts never shift pages`(filter: String) async throws {
        try await TestServer.reading { _, client, key in
            var old: [String] = []
            for _ in 1...5 { old.insert(try await client.newcomer().uid, at: 0) }
            let first = try await client.get("/admin/accounts?limit=2" + filter, bearer: key)
            var seen = first["items"].array?.compactMap { $0["uid"].string } ?? []
            var next = first["next"].string
            while let after = next, seen.count < 20 {
                _ = try await client.newcomer()
                let part = try await client.get("/admin/accounts?limit=2&after=\(after)" + filter, bearer: key)
                seen += part["items"].array?.compactMap { $0["uid"].string } ?? []
                next = part["next"].string
            }
            #expect(seen == old)
        }
    }

    @Test func `accounts of one moment are paged too`() async throws {
        try await TestServer.reading { server, client, key in
            for _ in 1...5 { _ = try await client.newcomer() }
            try await server.execute("UPDATE accounts SET created_at = '2024-01-01T00:00:00.123456Z'")
            let parts = try await client.parts(of: "/admin/accounts", limit: 2, key: key)
            #expect(parts.map(\.count) == [2, 2, 1] && Set(parts.flatMap { $0 }.map { $0["uid"] }).count == 5)
        }
    }

    @Test func `a cursor is good for its own list only`() async throws {
        try await TestServer.reading(others: TestServer.photos) { server, client, key in
            for _ in 1...2 { _ = try await client.newcomer() }
            let next = try await client.get("/admin/accounts?limit=1", bearer: key)["next"].string ?? ""
            #expect(try await client.get("/admin/accounts?after=\(next)", bearer: key).status == 200)
            let uid = try #require(try await uids(client, "", key: key).first)
            for path in [
                "/admin/accounts?after=\(next)&status=live", "/admin/accounts?after=\(next)&provider=scripted",
                "/admin/accounts?after=\(next)x", "/admin/accounts?after=x.y",
                "/admin/accounts/\(uid)/sessions?after=\(next)",
            ] {
                expectError(try await client.get(path, bearer: key), 400, "INVALID_PARAMETER", path)
            }
            let photos = APIClient(server, application: "photos")
            let other = try await server.serviceKey([.readAccounts], of: "photos")
            let refused = try await photos.get("/admin/accounts?after=\(next)", bearer: other)
            expectError(refused, 400, "INVALID_PARAMETER", "another application's")
            let search = try await client.search(["email": "ada@example.com"], key: key, "?after=\(next)")
            expectError(search, 400, "INVALID_PARAMETER", "of the list, for a search")
        }
    }

    @Test func `a key sees the accounts of its own application only`() async throws {
        try await TestServer.reading(others: TestServer.photos) { server, client, key in
            let photos = APIClient(server, application: "photos")
            let person = try await client.register(at: server)
            let other = try await server.serviceKey([.readAccounts, .revealAccounts], of: "photos")
            let paths = ["", "/\(person.uid)", "/\(person.uid)/sessions", "/\(person.uid)/identities"]
            for path in paths {
                let refused = try await client.get("/admin/accounts" + path, bearer: other)
                expectError(refused, 404, "UNKNOWN_APPLICATION", path)
            }
            #expect(try await photos.get("/admin/accounts", bearer: other)["items"] == [])
            #expect(try await photos.found(["email": .string(person.email)], key: other) == [])
            #expect(try await photos.found(["uid": .string(person.uid)], key: other) == [])
            for path in paths.dropFirst() {
                let refused = try await photos.get("/admin/accounts" + path, bearer: other)
                expectError(refused, 404, "ACCOUNT_NOT_FOUND", path)
            }
            expectError(try await photos.reveal(["email"], of: person.uid, key: other), 404, "ACCOUNT_NOT_FOUND")
            expectError(try await client.search(["uid": .string(person.uid)], key: other), 404, "UNKNOWN_APPLICATION")
        }
    }
}
