import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// What forms and pages of `/account` withstand.
struct AccountPageAttackTests {
    private static func name(of person: Person, at server: TestServer) async throws -> JSONValue {
        try await APIClient(server).get("/auth/me", bearer: person.accessToken)["displayName"]
    }

    @Test func `a form of another site, browser or section changes nothing`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = try await PageBrowser.signedIn(ada, at: server)
            let page = try await browser.open("/account/name")
            var forged = try #require(page.forms.first).fields
            (forged["action"], forged["displayName"]) = ("save", "Mallory")
            for (name, value) in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")] {
                var other = browser
                other.headers.replaceOrAdd(name: name, value: value)
                let refused = try await other.send(.POST, "/account/name", form: forged)
                #expect(refused.status == 403 && refused.fault == "csrf", "\(name)")
            }
            let data = try await browser.open("/account/data")
            var stranger = try await PageBrowser.signedIn(ada, at: server)
            let own = try await stranger.open("/account/name")
            for token in ["", "x.y", data.forms.first?.fields["csrf"] ?? "", own.forms.first?.fields["csrf"] ?? ""] {
                let form = forged.merging(["csrf": token]) { $1 }
                let refused = try await browser.send(.POST, "/account/name", form: form)
                #expect(refused.status == 403 && refused.fault == "csrf", "\(token)")
            }
            #expect(try await Self.name(of: ada, at: server).isNull)
            #expect(try await browser.submit("save", ["displayName": "A\0da"], of: page).status == 400)
            #expect(try await browser.submit("save", ["displayName": "Ada"], of: page).status == 200)
            #expect(try await Self.name(of: ada, at: server) == "Ada")
        }
    }

    @Test func `with several accounts the person chooses, and a form of the other account changes nothing`()
        async throws
    {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let api = APIClient(server)
            let (ada, bob) = (try await api.register(at: server), try await api.register(at: server))
            var browser = PageBrowser(server)
            _ = try await browser.signIn(ada, at: browser.open("/account"))
            let page = try await browser.open("/account/name")
            let choice = try await browser.submit("other", of: browser.open("/account"))
            #expect(choice.step == "accounts")
            let bobs = try await browser.signIn(bob, at: browser.submit("other", of: choice))
            #expect(bobs.step == "account" && bobs.text.contains(bob.email))
            let stale = try await browser.submit("save", ["displayName": "Ada"], of: page)
            #expect(stale.status == 200 && stale.step == "account-name" && !stale.text.contains("role=\"status\""))
            #expect(stale.text.contains(bob.email) && !stale.text.contains(ada.email))
            for person in [ada, bob] { #expect(try await Self.name(of: person, at: server).isNull) }
            browser.cookies["gatehouse-account-demo"] = nil
            let asked = try await browser.open("/account/name")
            #expect(asked.step == "accounts")
            let adas = try #require(asked.forms.first { $0.fields["account"] != nil }?.fields["account"])
            let chosen = try await browser.submit("choose", of: asked, account: adas)
            #expect(chosen.step == "account-name" && chosen.text.contains(ada.email))
            #expect(try await browser.submit("save", ["displayName": "Ada"], of: chosen).status == 200)
            #expect(try await Self.name(of: ada, at: server) == "Ada")
        }
    }

    @Test func `after the session has ended, a form leads to the sign-in and changes nothing`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = try await PageBrowser.signedIn(ada, at: server)
            let page = try await browser.open("/account/name")
            try await server.execute(
                "UPDATE sessions SET ended_at = now(), end_reason = 'revoked' WHERE kind = 'browser'")
            #expect(try await browser.submit("save", ["displayName": "Ada"], of: page).step == "signin")
            #expect(try await Self.name(of: ada, at: server).isNull)
            try await server.execute("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE kind = 'browser'")
            for change in ["idle = '1s', last_used_at = now() - interval '1 hour'", "expires_at = now()"] {
                try await server.backend.database.transaction {
                    try await $0.script("UPDATE sessions SET \(change) WHERE kind = 'browser'")
                }
                #expect(try await browser.open("/account/name").step == "signin", "\(change)")
            }
        }
    }

    @Test func `what must be recent is done after a proof of the same account`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = try await PageBrowser.signedIn(ada, at: server)
            try await server.age("sessions", "authenticated_at", by: "10 minutes")
            let forms: [(section: String, action: String, fields: [String: String])] = [
                ("password", "save", ["password": APIClient.otherPassword]), ("data", "delete", ["word": "DELETE"]),
                ("data", "export", [:]), ("identities", "address", ["address": APIClient.newAddress()]),
            ]
            for form in forms {
                let page = try await browser.open("/account/\(form.section)")
                let asked = try await browser.submit(form.action, form.fields, of: page)
                #expect(asked.step == "reauthenticate" && asked.path.hasPrefix("/signin/"), "\(form) \(asked.text)")
            }
            let page = try await browser.open("/account/name")
            #expect(try await browser.submit("save", ["displayName": "Ada"], of: page).step == "account-name")
            let asked = try await browser.submit("export", of: browser.open("/account/data"))
            let back = try await browser.submit("password", ["password": ada.password], of: asked)
            #expect(back.step == "account-data" && back.path == "/account/data")
            #expect(try await browser.submit("export", of: back).answer["account"]["uid"].string == ada.uid)
        }
    }

    @Test func `ids of another account are unknown`() async throws {
        try await TestServer.linking(application: RelyingParty.configuration) { server, api in
            let (ada, eve) = (try await api.register(at: server), try await api.register(at: server))
            var merges: [String] = []
            for (person, other) in [(ada, "bob"), (eve, "carol")] {
                _ = try await api.newcomer(other)
                let ticket = try await api.ticket(.somebody(other), bearer: person.accessToken)
                let merged = try await api.merge(ticket, bearer: person.accessToken)
                merges.append(merged["merge"]["id"].string ?? "")
            }
            let identity = try await api.identityID(of: "email", bearer: ada.accessToken)
            let session = try DecodedToken(ada.accessToken).claims["sid"].string ?? ""
            var browser = try await PageBrowser.signedIn(eve, at: server)
            let attempts = [
                ("identities", "remove", identity, "IDENTITY_NOT_FOUND"),
                ("identities", "remove", "x", "IDENTITY_NOT_FOUND"),
                ("identities", "address", identity, "IDENTITY_NOT_FOUND"),
                ("sessions", "end", session, "SESSION_NOT_FOUND"), ("merges", "undo", merges[0], "NOT_FOUND"),
            ]
            for (section, action, id, code) in attempts {
                let page = try await browser.open("/account/\(section)")
                let fields = ["id": id, "address": APIClient.newAddress()]
                let refused = try await browser.submit(action, fields, of: page)
                #expect(refused.status == 400 && refused.problem == code, "\(section) \(refused.text)")
            }
            #expect(try await api.identities(bearer: ada.accessToken).count == 2)
        }
    }

    @Test func `long lists are paged, and hostile texts show as text`() async throws {
        try await TestServer.linking(application: RelyingParty.configuration) { server, api in
            let ada = try await api.register(at: server)
            let hostile = String(repeating: "\"><script>alert(1)</script>", count: 9)
            #expect(
                try await api.patch("/auth/me", ["displayName": .string(hostile)], bearer: ada.accessToken).status
                    == 200)
            try await server.execute(
                """
                INSERT INTO identities (application_id, id, uid, provider, provider_uid, display_name)
                SELECT application_id, gen_random_uuid(), uid, 'scripted', 'n' || n, $1
                  FROM accounts, generate_series(1, 49) AS n
                """, [.text(hostile)])
            try await server.execute(
                """
                INSERT INTO sessions (application_id, id, uid, identity_id, methods, device, address, expires_at, kind,
                                      last_used_at)
                SELECT application_id, gen_random_uuid(), uid, identity_id, methods, $1, address, expires_at, 'browser', now()
                  FROM sessions, generate_series(1, 99) AS n WHERE kind = 'api'
                """, [.text(hostile)])
            var browser = try await PageBrowser.signedIn(ada, at: server)
            for (section, count) in [("identities", 50), ("sessions", 100)] {
                var (path, ids): (String?, Set<String>) = ("/account/\(section)", [])
                while let next = path {
                    let page = try await browser.open(next)
                    #expect(page.text.utf8.count <= 24 * 1024, "\(section) \(page.text.utf8.count)")
                    #expect(!page.text.contains("<script") && page.text.contains("&quot;&gt;&lt;script&gt;"))
                    ids.formUnion(page.forms.compactMap { $0.fields["id"] })
                    path = page.text.firstMatch(of: /id="next" href="([^"]*)"/).map {
                        "/account/\(section)\($0.output.1)"
                    }
                }
                #expect(
                    ids.count == count || section == "sessions" && ids.count == count - 1, "\(section) \(ids.count)")
            }
            for number in ["0", "-1", "99999999999999999999", "x", "9223372036854775807"] {
                #expect(try await browser.open("/account/sessions?page=\(number)").status == 200)
            }
        }
    }
}
