import Accounts
import Foundation
import NIOHTTP1
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// Pages that are opened or posted by somebody else, twice, in several tabs, or with planted cookies.
struct BrowserAttackTests {
    @Test func `the address of a request is nothing in another browser`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, api) = (RelyingParty(server), APIClient(server))
            let victim = try await api.register(at: server)
            var attackers = PageBrowser(server)
            let page = try await attackers.begin(party)
            var fresh = PageBrowser(server)
            var busy = PageBrowser(server)
            let own = try await busy.begin(party)
            for browser in [fresh, busy] {
                var browser = browser
                let shown = try await browser.open(page.path)
                #expect(shown.status == 400 && shown.fault == "not_your_request", "\(shown.text)")
                #expect(!shown.text.contains("Photos") && !shown.text.contains("photos.example"))
                // Even the attacker's own form is refused.
                let form = page.forms[0].fields.merging([
                    "action": "password", "identifier": victim.email, "password": victim.password,
                ]) { $1 }
                let posted = try await browser.send(.POST, page.path, form: form)
                #expect([400, 403].contains(posted.status) && posted.code == nil, "\(posted.status)")
                #expect(browser.sessions == nil)
            }
            fresh = PageBrowser(server)
            #expect(try await fresh.begin(party, ["prompt": "none"]).returnedError == "login_required")
            #expect(try await busy.signIn(victim, at: own).code != nil, "the victim's own request goes on")
            #expect(try await attackers.open(page.path).step == "signin", "the attacker's request has got nowhere")
            for path in ["/signin/\(String(repeating: "A", count: 43))", "/signin/x", "/signin/%00", page.path + "A"] {
                #expect(try await attackers.open(path).fault == "not_your_request", "\(path)")
            }
        }
    }

    @Test func `two tabs finish their own requests`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            var other = party
            other.client = "loose"
            let person = try await party.api.register(at: server)
            var browser = PageBrowser(server)
            let one = try await browser.begin(party, ["state": "one"])
            let two = try await browser.begin(other, ["state": "two"])
            let first = try await browser.signIn(person, at: one)
            let second = try await browser.open(two.path)
            for (party, view, state) in [(party, first, "one"), (other, second, "two")] {
                #expect(view.step == "return", "\(state): \(view.text)")
                let target = view.target.flatMap { URLComponents(string: $0) }
                #expect(target?.query("state") == state && target?.query("iss") == PageBrowser.issuer)
                #expect(try await party.redeem(view.code ?? "").status == 200)
            }
            // The forms of both tabs are still on the screen.
            for page in [one, two] {
                let late = try await browser.signIn(person, at: page)
                #expect(late.status == 400 && late.fault == "request_over" && late.code == nil, "\(late.text)")
                #expect(try await browser.open(page.path).fault == "request_over")
            }
            // The form of a step that the person has left.
            let consent = try await browser.begin(.public(server))
            let stale = ["action": "password", "csrf": consent.forms.first?.fields["csrf"] ?? "", "password": "x"]
            let shown = try await browser.send(.POST, consent.path, form: stale)
            #expect(shown.status == 200 && shown.step == "consent", "an action of another step")
        }
    }

    @Test func `a planted cookie is replaced at sign-in, and names nothing`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let attacker = try await party.api.register(at: server)
            for planted in [server.backend.opaque.make().text, "x", try await party.browser(of: attacker).value] {
                var browser = PageBrowser(server)
                browser.cookies["gatehouse-sso-demo"] = planted
                let page = try await browser.begin(party, ["prompt": "login", "login_hint": person.email])
                var view = page
                if view.step != "signin" { view = try await browser.submit("other", of: view) }
                let done = try await browser.signIn(person, at: view)
                let tokens = try await party.redeem(done.code ?? "")
                let claims = try DecodedToken(tokens["id_token"].string ?? "").claims
                #expect(claims["sub"].string == person.uid)
                #expect(browser.sessions != nil && browser.sessions != planted)
                let old = try await party.authorize(["prompt": "none"], cookie: "gatehouse-sso-demo=\(planted)")
                #expect(old.returned("error") == "login_required", "the planted value is signed in")
            }
        }
    }
}

extension String {
    /// The value of a cookie.
    fileprivate var value: String { String(split(separator: "=", maxSplits: 1).last ?? "") }
}
