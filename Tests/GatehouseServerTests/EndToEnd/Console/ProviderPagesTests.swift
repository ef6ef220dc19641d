import Accounts
import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// The pages about providers: plans, switches, checks and explanations.
struct ProviderPagesTests {
    private static let page = "/console/demo/providers/scripted"

    @Test func `a plan leads to a switch that the provider's page shows until it is ended`() async throws {
        try await ConsoleBrowser.with { server, browser in
            _ = try await APIClient(server).newcomer("ada")
            let plan = try await browser.open(Self.page).submit("providers-plan", ["mode": "off"])
            #expect(plan.status == 200 && plan.text.contains("<strong>1</strong> person would have no way in."))

            let until = Date().addingTimeInterval(3 * 86_400).formatted(.iso8601).prefix(16)
            let typed = [
                "confirm": "off", "until": String(until), "reason.code": "test", "reason.ticket": "T-1",
            ]
            let wrong = try await plan.submit("providers-switch", typed)
            #expect(wrong.status == 409 && wrong.alertCode == "CONFIRMATION_REQUIRED")
            let form = try #require(wrong.form("providers-switch"))
            for (name, value) in typed { #expect(form[name] == value, "\(name)") }
            #expect(try form["plan"] == #require(plan.form("providers-switch"))["plan"])
            #expect(form.html.contains("<code>demo/scripted off</code>"))

            let switched = try await wrong.submit("providers-switch", ["confirm": "demo/scripted off"])
            #expect(switched.status == 303 && switched.location == Self.page, "\(switched.text)")
            let page = try await switched.follow()
            #expect(page.said == "The provider is switched." && page.text.contains("You made the switch."))
            #expect(page.text.contains("datetime=\"\(until)"), "until when")
            let list = try await browser.open("/console/demo/providers")
            #expect(list.text.contains("by the console; the file says open"))

            let again = try await plan.submit(
                "providers-switch", ["confirm": "demo/scripted off", "reason.code": "test"])
            #expect(again.status == 409 && again.alertCode == "PLAN_STALE")
            #expect(again.form("providers-plan") != nil && again.form("providers-switch")?["reason.code"] == "test")

            let ended = try await page.submit("providers-endSwitch", ["reason.code": "test"])
            #expect(ended.status == 303 && ended.location == Self.page)
            let after = try await ended.follow()
            #expect(
                after.form("providers-endSwitch") == nil && after.text.contains("<strong>open</strong>, by the file"))
        }
    }

    @Test func `a switch without a plan asks for one`() async throws {
        try await ConsoleBrowser.with { _, browser in
            let page = try await browser.open(Self.page + "/switch")
            #expect(page.status == 200 && page.form("providers-plan") != nil && page.form("providers-switch") == nil)
            #expect(try await browser.open("/console/demo/providers/nothing/switch").status == 404)
            #expect(try await browser.open("/console/demo/providers/nothing").status == 404)
        }
    }

    @Test func `a switch that strands its administrator is refused, whatever the phrase`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let other = try await APIClient(server).newcomer("ada")
            try await server.grant(.owner, to: other)
            let plan = try await browser.open("/console/demo/providers/email").submit("providers-plan", ["mode": "off"])
            #expect(plan.text.contains("You could not sign in as an administrator any more."))
            #expect(!plan.text.contains("No owner of all applications"))
            let refused = try await plan.submit(
                "providers-switch", ["confirm": "demo/email off", "reason.code": "test"])
            #expect(refused.status == 409 && refused.alertCode == "WOULD_LOCK_OUT_ADMINS")
            let list = try await browser.open("/console/demo/providers")
            #expect(!list.text.contains("by the console"))
        }
    }

    @Test func `a plan that affects nobody says so`() async throws {
        try await ConsoleBrowser.with { _, browser in
            let plan = try await browser.open(Self.page).submit("providers-plan", ["mode": "existing"])
            #expect(plan.status == 200 && plan.text.contains("Nobody is affected"))
            #expect(!plan.text.contains("<svg class=\"bar\""))
        }
    }

    @Test func `settings of a new provider are checked beside their fields, and a secret never comes back`()
        async throws
    {
        try await ConsoleBrowser.with { _, browser in
            let kinds = try await browser.open("/console/demo/providers/check")
            let link = try #require(kinds.links.first { $0.target.hasSuffix("?kind=oidc") })
            let form = try await browser.open(link.target)
            let secret = "hush-hush-\(UUID().uuidString)"
            let typed = ["name": "corp", "settings.issuer": "nowhere", "settings.clientSecret": secret]
            let refused = try await form.submit("new-provider", typed)
            #expect(refused.status == 400 && refused.alertCode == "INVALID_PROVIDER_SETTINGS")
            for field in ["issuer", "clientID"] {
                #expect(refused.text.contains("id=\"new-provider-settings-\(field)-problem\""), "\(field)")
            }
            #expect(refused.form("new-provider")?["settings.issuer"] == "nowhere")
            #expect(!refused.text.contains(secret))

            let checked = try await refused.submit(
                "new-provider",
                [
                    "settings.issuer": "https://127.0.0.1:1", "settings.clientID": "client",
                    "settings.clientSecret": secret, "settings.scopes": "email\r\ngroups",
                    "settings.trustEmail": "true", "settings.claims": "displayName: full_name",
                ])
            #expect(checked.status == 200, "\(checked.text)")
            #expect(checked.text.contains("/api/v1/auth/oauth/corp/callback"))
            for line in [
                "clientSecret: \"${CORP_CLIENT_SECRET}\"", "scopes: [\"email\",\"groups\"]", "trustEmail: true",
                "claims: {\"displayName\":\"full_name\"}",
            ] {
                #expect(checked.text.replacing("&quot;", with: "\"").contains(line), "\(line)")
            }
            #expect(!checked.text.contains(secret))
            #expect(checked.form("new-provider")?["settings.clientID"] == "client")
        }
    }

    @Test func `settings may be sent as JSON too, and an unknown kind is refused`() async throws {
        try await ConsoleBrowser.with { _, browser in
            let path = "/console/demo/providers/check"
            let form = try #require(try await browser.open(path + "?kind=anonymous").form("new-provider"))
            let json = try await browser.post(path, form.filled(["name": "guests", "settings": "{}"]))
            #expect(json.status == 200 && json.text.contains("kind: anonymous"), "\(json.text)")
            let odd = try await browser.post(path, form.filled(["kind": "nothing"]))
            #expect(odd.status == 400 && odd.links.contains { $0.target.hasSuffix("?kind=oidc") })
        }
    }

    @Test func `a diagnosis lists its checks in words`() async throws {
        try await ConsoleBrowser.with { _, browser in
            let checks = try await browser.open("/console/demo/providers/phone").submit("providers-diagnose")
            #expect(checks.status == 200 && checks.text.contains("<strong class=\"good\">In order</strong>"))
        }
    }

    @Test func `an explanation begins with an example and keeps what was typed`() async throws {
        try await ConsoleBrowser.with(role: .support) { server, browser in
            let page = try await browser.open("/console/demo/explain")
            let answer = try await page.submit("explain", ["provider": "scripted"])
            #expect(answer.status == 200 && answer.text.contains("The identity opens a new account."), "\(answer.text)")
            let person = try await APIClient(server).newcomer("ada")
            let known = try await answer.submit("explain", ["evidence": #"{"providerUid": "ada"}"#])
            #expect(known.text.contains("The identity signs in to \(person.uid)."))
            #expect(known.links.contains { $0.target == "/console/demo/accounts/\(person.uid)" })
            let wrong = try await known.submit("explain", ["evidence": "{"])
            #expect(wrong.status == 400 && wrong.form("explain")?["evidence"] == "{")
            #expect(wrong.text.contains("id=\"explain-evidence-problem\""))
            #expect(wrong.form("explain")?["provider"] == "scripted")
        }
    }

    @Test func `who may only read gets no forms, and no pages of acts`() async throws {
        try await ConsoleBrowser.with(role: .auditor) { _, browser in
            let page = try await browser.open(Self.page)
            #expect(page.status == 200 && page.form("providers-plan") == nil && !page.text.contains("/try\""))
            for path in ["/providers/check", "/providers/scripted/switch"] {
                #expect(try await browser.open("/console/demo\(path)").status == 403, "\(path)")
            }
        }
    }
}
