import Accounts
import Administration
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// `GET /accounts/{uid}/timeline`: what has happened to a person, in sentences.
struct TimelineTests {
    /// Runs the body against a server with an admin API and `ScriptedProvider`.
    static func with(
        application: String = "", others: String = "",
        _ body: @Sendable @escaping (TestServer, APIClient) async throws -> Void
    ) async throws {
        try await TestServer.with(
            application: application, providers: "scripted: {}", others: others, admin: "{ application: demo }"
        ) { server in
            try await body(server, APIClient(server))
        }
    }

    /// All entries of a timeline, read page by page.
    private func timeline(
        of uid: String, limit: Int = 200, by key: String, _ client: APIClient
    ) async throws -> [JSONValue] {
        var (entries, cursor): ([JSONValue], String?) = ([], nil)
        repeat {
            let path = "/admin/accounts/\(uid)/timeline?limit=\(limit)" + (cursor.map { "&after=\($0)" } ?? "")
            let page = try await client.get(path, bearer: key)
            try #require(page.status == 200, "\(page.text)")
            let items = try #require(page["items"].array)
            #expect(items.count <= limit)
            entries += items
            cursor = page["next"].string
        } while cursor != nil
        return entries
    }

    private func sentences(_ entries: [JSONValue]) -> [String] {
        entries.reversed().compactMap { $0["sentence"].string }
    }

    @Test func `a person's life is read back as sentences`() async throws {
        try await Self.with { server, client in
            let key = try await server.serviceKey([.readAccounts])
            let ada = try await client.register(at: server)
            #expect(try await client.link(.somebody("ada"), bearer: ada.accessToken).status == 200)
            let eve = try await client.newcomer("eve")
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            #expect(merged.status == 200, "\(merged.text)")
            let undo = "/auth/merges/\(merged["merge"]["id"].string ?? "")/undo"
            #expect(try await client.post(undo, bearer: merged["accessToken"].string).status == 204)
            let reason = AdministrativeAct.Reason(.fraud, ticket: "T-1")
            let act = AdministrativeAct(by: .key("abcd"), because: reason)
            try await server.setAccess(["editor"], of: ada.uid, by: act)
            try await server.setDisabled(true, ada)
            expectError(try await client.login(ada.email), 403, "ACCOUNT_DISABLED")
            try await server.setDisabled(false, ada)
            let again = try Person(try await client.login(ada.email), email: ada.email, password: "")
            try await client.deleteAccount(again)
            let offered = try await client.login(ada.email)["error"]["details"]["restoreToken"]
            #expect(try await client.post("/auth/account/restore", ["restoreToken": offered]).status == 200)

            let entries = try await timeline(of: ada.uid, by: key, client)
            let told = sentences(entries)
            var rest = told[...]
            for expected in [
                "The account was created with email, which proved an address. There was no account to join.",
                "The person linked an identity of scripted while signed in.",
                "A proof was refused. The identity belongs to another account.",
                "The account absorbed another one of the same person.",
                "A merge was undone: the account gave back what it had absorbed.",
                "An administrator changed the account's roles or claims. Reason: fraud.",
                "An administrator disabled the account.",
                "A proof was refused. The account has been disabled.",
                "An administrator enabled the account.",
                "The person signed in.",
                "The person deleted the account.",
                "A proof was refused. The account is being deleted.",
                "The account was restored.",
            ] {
                let found = rest.firstIndex(of: expected)
                #expect(found != nil, "\(expected) is not among \(rest)")
                if let found { rest = rest[(found + 1)...] }
            }
            let created = try #require(entries.last { $0["event"] == "account.created" })
            #expect(created["rule"] == "address.proven", "\(created)")
            #expect(
                created["details"]["addresses"] == [["kind": "email", "verified": true, "authoritative": true]])
            let linked = entries.first { $0["event"] == "identity.linked" }
            #expect(linked?["rule"] == "link.asked" && linked?["provider"] == "scripted", "\(entries)")
            #expect(linked?["details"]["addresses"] == [])
            let changed = entries.first { $0["event"] == "account.access-changed" }
            #expect(changed?["actor"] == ["key": "abcd"])
            #expect(changed?["details"]["reason"] == ["code": "fraud", "ticket": "T-1"])
            #expect(entries.allSatisfy { !"\($0)".contains(ada.email) }, "no address")
            let times = entries.compactMap { $0["at"].string }
            #expect(times == times.sorted(by: >) && times.count == entries.count)
            #expect(try await timeline(of: ada.uid, limit: 3, by: key, client) == entries, "by pages of three")
            _ = eve
        }
    }

    @Test func `the events of absorbed accounts are included, also by their uids`() async throws {
        try await Self.with { server, client in
            let key = try await server.serviceKey([.readAccounts])
            let ada = try await client.newcomer("ada")
            let eve = try await client.newcomer("eve")
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            #expect(try await client.merge(ticket, bearer: ada.accessToken).status == 200)
            let entries = try await timeline(of: ada.uid, by: key, client)
            #expect(entries.filter { $0["event"] == "account.created" }.count == 2)
            let roles = entries.filter { $0["event"] == "account.merged" }.map { $0["details"]["role"].string }
            #expect(Set(roles) == ["survivor", "absorbed"])
            #expect(try await timeline(of: eve.uid, by: key, client) == entries)
            let other = try await client.newcomer("other")
            #expect(try await timeline(of: other.uid, by: key, client).count { $0["event"] == "account.created" } == 1)
        }
    }

    @Test func `texts from outside are in the details alone, and cut`() async throws {
        try await Self.with { server, client in
            let key = try await server.serviceKey([.readAccounts])
            let ada = try await client.newcomer("ada")
            let foreign = "\u{202E}{{x}}<b>" + String(repeating: "y", count: 2000)
            try await server.execute(
                """
                INSERT INTO audit_events (application_id, event, account, details)
                SELECT application_id, 'identity.unlinked', sha256(audit_key || uuid_send(uid)),
                       jsonb_build_object('provider', $2::text, 'list', jsonb_build_array($2::text))
                  FROM accounts WHERE uid = $1
                """, [.uuid(UUID(uuidString: ada.uid)), .text(foreign)])
            let entry = try #require(try await timeline(of: ada.uid, by: key, client).first)
            #expect(entry["sentence"] == "An identity of a provider was removed.")
            let cut = String(foreign.unicodeScalars.prefix(300))
            #expect(entry["details"]["list"] == [.string(cut)])
            #expect(entry["provider"].string == cut)
        }
    }

    @Test func `keys of other applications, other scopes and wrong cursors are refused`() async throws {
        try await Self.with(others: TestServer.photos) { server, client in
            let ada = try await client.newcomer("ada")
            _ = try await client.present(.somebody("ada"))
            let other = try await client.newcomer("other")
            let key = try await server.serviceKey([.readAccounts])
            let (foreign, narrow) = (
                try await server.serviceKey([.readAccounts], of: "photos"), try await server.serviceKey([.readServer])
            )
            let path = "/admin/accounts/\(ada.uid)/timeline"
            expectError(try await client.get(path, bearer: foreign), 404, "UNKNOWN_APPLICATION")
            let photos = APIClient(server, application: "photos")
            expectError(try await photos.get(path, bearer: foreign), 404, "ACCOUNT_NOT_FOUND")
            let questions = [path, "/admin/accounts/\(ada.uid)/why"]
            for question in questions {
                expectError(try await client.get(question, bearer: narrow), 403, "FORBIDDEN")
            }
            let unknown = "/admin/accounts/\(UUID().uuidString)/timeline"
            expectError(try await client.get(unknown, bearer: key), 404, "ACCOUNT_NOT_FOUND")
            expectError(
                try await client.get("/admin/accounts/nonsense/timeline", bearer: key), 404, "ACCOUNT_NOT_FOUND")

            let next = try await client.get(path + "?limit=1", bearer: key)["next"].string ?? ""
            #expect(try await client.get("\(path)?limit=1&after=\(next)", bearer: key).status == 200)
            let elsewhere = "/admin/accounts/\(other.uid)/timeline?after=\(next)"
            expectError(try await client.get(elsewhere, bearer: key), 400, "INVALID_PARAMETER")
            for query in ["?after=x", "?limit=0", "?limit=201", "?limit=x"] {
                expectError(try await client.get(path + query, bearer: key), 400, "INVALID_PARAMETER", query)
            }
        }
    }

    @Test func `after the erasure nothing is readable`() async throws {
        try await Self.with { server, client in
            let key = try await server.serviceKey([.readAccounts])
            let ada = try await client.newcomer("ada")
            let eve = try await client.newcomer("eve")
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            let bearer = try #require(merged["accessToken"].string)
            let survivor = try #require(merged["user"]["id"].string)
            #expect(try await client.delete("/auth/account", bearer: bearer).status == 204)
            #expect(try await !timeline(of: survivor, by: key, client).isEmpty, "in the grace period")
            try await server.makeDue()
            try await server.erase(survivor)
            for uid in [ada.uid, eve.uid] {
                for path in ["/admin/accounts/\(uid)/timeline", "/admin/accounts/\(uid)/why"] {
                    expectError(try await client.get(path, bearer: key), 404, "ACCOUNT_NOT_FOUND", path)
                }
            }
        }
    }
}
