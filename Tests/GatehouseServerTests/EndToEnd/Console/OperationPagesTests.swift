import Administration
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// The pages of the console about what runs the server, and the overview.
struct OperationPagesTests {
    private static let reason = ["reason.code": "operations"]

    @Test func `a service key is made, and its secret is shown once`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let page = try await browser.open("/console/demo/service-keys")
            let form = try #require(page.form("serviceKeys-make"), "\(page.text)")
            #expect(form.names.isSuperset(of: ["name", "scopes", "expiresIn", "allow", "reason.code"]))
            // What no key may have is no choice, and a note needs an account.
            #expect(!form.html.contains("admins:write") && !form.names.contains("reason.note"))
            let typed = [
                "name": "ticket system", "scopes": "server:read", "expiresIn": "9999999999", "allow": "127.0.0.0/8",
                "reason.code": "operations",
            ]
            let refused = try await page.submit("serviceKeys-make", typed)
            #expect(refused.status == 400 && refused.alertCode == "INVALID_PARAMETER", "\(refused.text)")
            #expect(refused.form("serviceKeys-make")?["name"] == "ticket system")
            #expect(refused.text.contains("serviceKeys-make-expiresIn-problem"))
            // The summary leaves what is wrong to the field, whose label people know.
            #expect(!refused.text.contains("expiresIn is not") && refused.text.contains(">Is not between 1 and"))

            let made = try await page.submit("serviceKeys-make", typed.merging(["expiresIn": "7776000"]) { $1 })
            #expect(made.status == 303 && made.location == "/console/demo/service-keys", "\(made.text)")
            let secret = try #require(try await made.follow().shownOnce)
            #expect(secret.hasPrefix("ghk_"))
            #expect(browser.cookieLines.values.allSatisfy { !$0.contains(secret) })
            let again = try await browser.open("/console/demo/service-keys")
            #expect(again.shownOnce == nil && !again.text.contains(secret) && again.text.contains("ticket system"))
            let program = OperatorClient(api: APIClient(server), key: secret)
            #expect(try await program.get("/me")["scopes"] == ["server:read"])

            let revoke = try #require(again.links.first { $0.text == "Revoke" }?.target)
            let revoked = try await browser.submit(revoke, Self.reason)
            #expect(revoked.status == 303, "\(revoked.text)")
            #expect(try await revoked.follow().links.allSatisfy { $0.target != revoke })
            #expect(try await program.get("/me").status == 401)
        }
    }

    @Test func `a form rotates a service key once, however often it is sent`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let first = try await server.serviceKey([.readServer])
            let path = "/console/demo/service-keys/\(first.dropFirst(4).prefix(16))/rotate"
            let page = try await browser.open(path)
            let mark = try #require(page.form(path)?["seen"], "\(page.text)")
            #expect(mark.wholeMatch(of: /[0-9a-f]{16}/) != nil)
            let typed = Self.reason.merging(["overlap": "3600"]) { $1 }
            let answers = try await withThrowingTaskGroup(of: ConsoleBrowser.View.self) { group in
                for _ in 0..<20 { group.addTask { try await page.submit(path, typed) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 303 } == 1, "\(answers.map(\.status))")
            #expect(answers.allSatisfy { $0.status == 303 || $0.alertCode == "WRONG_STATE" })
            // The former secret counts until its overlap is over.
            let late = try await page.submit(path, typed)
            #expect(late.status == 409 && late.form(path)?["overlap"] == "3600", "\(late.text)")
            #expect(try await OperatorClient(api: APIClient(server), key: first).get("/me").status == 200)
            let again = try await browser.submit(path, Self.reason)
            #expect(again.status == 303, "\(again.text)")
            #expect(try await OperatorClient(api: APIClient(server), key: first).get("/me").status == 401)
            #expect(try await server.audited().count { $0.event == "service-key.rotated" } == 2)
        }
    }

    @Test func `a key is retired by its phrase alone, and first only as a question`() async throws {
        try await ConsoleBrowser.with { _, browser in
            let page = try await browser.open("/console/demo/keys")
            let retire = try #require(page.links.first { $0.text == "Retire" }?.target, "\(page.text)")
            let kid = try #require(retire.split(separator: "/").dropLast().last)
            #expect(page.text.contains("Signs new tokens") && page.links.contains { $0.text == "Rotate the keys" })

            let asked = try await browser.submit(retire, ["dryRun": "true"])
            #expect(asked.status == 200 && asked.text.contains("A new key would take its place"), "\(asked.text)")
            let unfounded = try await browser.submit(retire, ["confirm": "retire \(kid)"])
            #expect(unfounded.status == 400 && unfounded.text.contains("id=\"keys-retire-reason-code-problem\""))
            #expect(!unfounded.text.contains("reason.code is missing"))
            let wrong = try await browser.submit(retire, Self.reason.merging(["confirm": "retire it"]) { $1 })
            #expect(wrong.status == 409 && wrong.alertCode == "CONFIRMATION_REQUIRED", "\(wrong.text)")
            #expect(wrong.form(retire)?["confirm"] == "retire it" && wrong.text.contains("retire \(kid)"))
            let right = try await wrong.submit(retire, ["confirm": "retire \(kid)"])
            #expect(right.status == 303 && right.location == "/console/demo/keys", "\(right.text)")
            let done = try await right.follow()
            #expect(done.said?.contains(kid) == true && done.text.contains("Retired, its tokens are refused"))
            #expect(!done.links.contains { $0.target == retire })
        }
    }

    @Test func `a lock is found and lifted`() async throws {
        try await ConsoleBrowser.with(role: .support, on: "demo") { server, browser in
            let api = APIClient(server)
            let person = try await api.register(at: server)
            for _ in 1...10 { _ = try await api.login(person.email, "a wrong one") }
            let page = try await browser.open("/console/demo/limits")
            let refused = try await page.submit("limits-search", ["email": "ada"])
            #expect(refused.status == 400 && refused.form("limits-search")?["email"] == "ada", "\(refused.text)")
            let found = try await page.submit("limits-search", ["email": person.email])
            #expect(found.status == 200 && found.text.contains("Too many wrong passwords"), "\(found.text)")
            #expect(found.title?.contains("@") == false && !found.path.contains("@"))

            let lift = try #require(found.form("limits-lift"))
            #expect(lift["email"] == person.email && !lift.names.contains("phone"))
            let without = try await found.submit("limits-lift")
            #expect(without.status == 400 && without.form("limits-lift")?["email"] == person.email, "\(without.text)")
            let lifted = try await without.submit("limits-lift", Self.reason)
            #expect(lifted.status == 303 && lifted.location == "/console/demo/limits", "\(lifted.text)")
            #expect(try await lifted.follow().said != nil)
            #expect(try await api.login(person.email).status == 200)
        }
    }

    @Test func `the audit is filtered and exported`() async throws {
        try await ConsoleBrowser.with { server, browser in
            _ = try await browser.open("/console/demo/limits").submit("limits-search", ["address": "192.0.2.1"])
            let filtered = try await browser.open("/console/demo/audit?event=limits.searched&since=2026-01-01T00:00")
            #expect(filtered.status == 200 && filtered.text.contains("kind: address"), "\(filtered.text)")
            #expect(!filtered.text.contains("account.created") && filtered.text.contains("seal"))
            #expect(filtered.text.contains("value=\"2026-01-01T00:00\""))
            let actor = try #require(filtered.links.first { $0.text.hasPrefix("Administrator ") }?.target)
            #expect(try await browser.open(actor).text.contains("limits.searched"))

            let path = "/console/demo/audit/export"
            let foreign = try await browser.open(path, following: false, headers: ["sec-fetch-site": "cross-site"])
            #expect(foreign.status == 303 && foreign.location == "/console/demo/audit")
            let export = try await browser.open(path + "?since=2020-01-01T00:00")
            let lines = export.text.split(separator: "\n").compactMap { JSONValue(json: Array($0.utf8)) }
            #expect(export.status == 200 && lines.contains { $0["event"] == "limits.searched" }, "\(export.text)")
            #expect(export.headers.first(name: "content-disposition")?.hasPrefix("attachment") == true)
            #expect(try await server.audited().count { $0.event == "audit.exported" } == 1)
        }
    }

    @Test func `an auditor sees lists, but no acts`() async throws {
        try await ConsoleBrowser.with(role: .auditor, on: "demo") { _, browser in
            for place in [
                "", "/erasures", "/webhooks", "/deliveries", "/messages", "/audit", "/keys", "/configuration",
            ] {
                let page = try await browser.open("/console/demo" + place)
                #expect(page.status == 200, "\(place) \(page.text)")
                #expect(page.forms.filter { $0.names.contains("csrf") }.map(\.id) == ["sign-out"], "\(place)")
                let acts = ["retry", "test", "replay", "rotate", "retire", "revoke"]
                #expect(!page.links.contains { link in acts.contains { link.target.hasSuffix("/" + $0) } }, "\(place)")
                #expect(!page.links.contains { $0.text == "Service keys" }, "\(place)")
            }
            for place in ["/service-keys", "/admins", "/limits", "/keys/rotate"] {
                #expect(try await browser.open("/console/demo" + place).status == 403, "\(place)")
            }
        }
    }

    @Test func `a role is granted and revoked`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let other = try await APIClient(server).register(at: server)
            let mistyped = try await browser.open("/console/demo/admins?uid=ada")
            #expect(mistyped.text.contains("This is no uid") && mistyped.form("admins-grant") == nil)
            let page = try await browser.open("/console/demo/admins?uid=\(other.uid.uppercased())")
            let granted = try await page.submit("admins-grant", Self.reason.merging(["role": "support"]) { $1 })
            #expect(granted.status == 303 && granted.location == "/console/demo/admins", "\(granted.text)")
            let list = try await granted.follow()
            #expect(list.links.contains { $0.target == "/console/demo/accounts/\(other.uid)" })
            // The owner's role is for all applications, and so is not revoked here.
            let revoke = "/console/demo/admins/\(other.uid)/revoke"
            #expect(list.links.filter { $0.text == "Revoke" }.map(\.target) == [revoke])
            let confirmed = Self.reason.merging(["confirm": "revoke \(other.uid)"]) { $1 }
            #expect(try await browser.submit(revoke, confirmed).status == 303)
            #expect(try await !browser.open("/console/demo/admins").text.contains(other.uid))
            #expect(try await browser.submit(revoke, confirmed).status == 303, "repeating it changes nothing")
            let nobody = "/console/demo/admins/\(UUID().uuidString.lowercased())/revoke"
            #expect(try await browser.submit(nobody, Self.reason).alertCode == "ACCOUNT_NOT_FOUND")
            // The role of the owner is for all applications, which no form of the console changes.
            let own = "/console/demo/admins/\(browser.person.uid)/revoke"
            let form = try #require(try await browser.open(own).form(own))
            #expect(!form.names.contains("on"))
            let typed = form.filled(Self.reason.merging(["confirm": "revoke \(browser.person.uid)"]) { $1 })
            let kept = try await browser.post(own, typed)
            #expect(kept.status == 409 && kept.alertCode == "LAST_OWNER", "\(kept.text)")
            let whole = try await browser.post(own, typed + [("on", "all")])
            #expect(whole.status == 400 && whole.text.contains("is not the application of the path"), "\(whole.text)")
            #expect(try await browser.open("/console/demo/admins").text.contains(browser.person.uid))
        }
    }

    @Test func `the overview has a banner for a switch, and plots with tables`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let quiet = try await browser.open("/console/demo")
            #expect(!quiet.text.contains("class=\"banner\""))
            let api = APIClient(server)
            let key = try await server.serviceKey()
            let plan = try await api.plan("scripted", "off", key)
            try #require(try await api.switchProvider("scripted", plan, key).status == 200)
            try await server.execute(
                """
                INSERT INTO statistics (application_id, name, step, at, label, count)
                SELECT id, counted.name, 'hour', date_bin('1 hour', now(), 'epoch'), counted.label, counted.count
                  FROM applications,
                       (VALUES ('signIns', 'google', 4123), ('refusals', 'provider.off', 17)) AS counted (name, label, count)
                 WHERE applications.name = 'demo'
                """)
            let page = try await browser.open("/console/demo")
            #expect(page.text.contains("The provider scripted was switched: it is off instead of open"), "\(page.text)")
            #expect(page.links.contains { $0.target == "/console/demo/providers/scripted" })
            #expect(page.text.contains(/<polyline class="line-1" points="[\d., ]+"\/>/))
            #expect(page.text.contains("<td data-title=\"google\">4,123</td>"))
            #expect(page.text.contains("<td data-title=\"What\">provider.off</td>"))
            for link in ["/providers", "/audit", "/deliveries?state=failed", "/messages?state=pending"] {
                #expect(page.links.contains { $0.target == "/console/demo" + link }, "\(link)")
            }
            #expect(page.text.utf8.count < 60_000 && !page.text.contains("style="))
        }
    }

    @Test func `the configuration is shown with its places, and without secrets`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let page = try await browser.open("/console/demo/configuration")
            #expect(page.status == 200 && page.text.contains("<h2>passwords</h2>"), "\(page.text)")
            #expect(page.text.contains("<dt><code>masterKey</code></dt><dd>set"))
            #expect(!page.text.contains(server.databaseURL) && page.text.utf8.count < 60_000)
        }
    }
}
