import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Consent to clients that the operator does not run, and confirmation for apps on devices.
struct ConsentPageTests {
    @Test func `a client that is not ours asks once, and again for more`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty.public(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            browser.headers.add(name: "accept-language", value: "de")
            var page = try await browser.signIn(ada, at: browser.begin(party, ["scope": "openid email"]))
            #expect(page.step == "consent" && page.text.contains("Galerie") && page.text.contains("gallery.example"))
            #expect(page.text.contains(ada.email) && page.text.contains("<html lang=\"de\">"))
            #expect(try await browser.begin(party, ["prompt": "none"]).returnedError == "consent_required")
            let denied = try await browser.submit("deny", of: page)
            #expect(denied.step == "return" && denied.returnedError == "access_denied")
            #expect(try await server.count("SELECT count(*) FROM consents") == 0)
            page = try await browser.begin(party, ["scope": "openid email"])
            let allowed = try await browser.submit("allow", of: page)
            #expect(try await party.redeem(allowed.code ?? "").status == 200, "\(allowed.text)")
            #expect(try await browser.begin(party, ["scope": "openid email", "prompt": "none"]).code != nil)
            let more = try await browser.begin(party, ["scope": "openid email offline_access"])
            #expect(more.step == "consent")
            _ = try await browser.submit("allow", of: more)
            #expect(
                try await server.count(
                    "SELECT count(*) FROM consents WHERE scopes = '{email,offline_access,openid}'") == 1)
            let events = try await server.count("SELECT count(*) FROM audit_events WHERE event = 'consent.granted'")
            #expect(events == 2)
            #expect(try await browser.begin(party, ["scope": "openid", "prompt": "consent"]).step == "consent")
        }
    }

    @Test func `the page shows the client's picture and links its policy and terms`() async throws {
        let configuration = RelyingParty.configuration.replacing(
            "name: { en: Gallery",
            with: "logo: \"https://gallery.example/logo.png\"\n      policyURI: \"https://gallery.example/privacy\"\n"
                + "      tosURI: \"https://gallery.example/terms\"\n      name: { en: Gallery")
        try await TestServer.with(application: configuration) { server in
            let (party, ada) = (RelyingParty.public(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            let page = try await browser.signIn(ada, at: browser.begin(party, ["scope": "openid email"]))
            let policy = page.answer.headers.first(name: "content-security-policy") ?? ""
            #expect(policy.contains("img-src 'self' data: https://gallery.example/logo.png;"))
            for url in ["src=\"https://gallery.example/logo.png\"", "href=\"https://gallery.example/privacy\""] {
                #expect(page.text.contains(url), "\(url)")
            }
            #expect(page.text.contains("href=\"https://gallery.example/terms\""))
        }
    }

    @Test func `claims by name need the consent of their scope`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty.public(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            let page = try await browser.signIn(ada, at: browser.begin(party, ["scope": "openid"]))
            _ = try await browser.submit("allow", of: page)
            let silent = ["scope": "openid", "prompt": "none", "claims": #"{"userinfo":{"email":null}}"#]
            #expect(try await browser.begin(party, silent).returnedError == "consent_required")
        }
    }

    @Test func `nothing beyond the consent is had by other parameters`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty.public(server)
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            try await party.consent(of: person)
            let offline = try await party.authorize(["access_type": "offline", "prompt": "none"], cookie: cookie)
            #expect(offline.returned("error") == "consent_required")
            // Claims of scopes that the client may not have are left out.
            let foreign = #"{"userinfo":{"phone_number":null,"name":{"essential":true}},"id_token":{"name":null}}"#
            let code = try await party.code(
                ["scope": "openid profile phone account", "claims": foreign], cookie: cookie)
            let tokens = try await party.redeem(code)
            #expect(tokens["scope"] == "openid" && tokens["refresh_token"] == .null, "\(tokens.text)")
            #expect(try DecodedToken(tokens["id_token"].string ?? "").claims["name"] == .null)
            #expect(try await party.userInfo(tokens["access_token"].string ?? "").json.keys == ["sub"])
            for grant in ["client_credentials", "password", "urn:ietf:params:oauth:grant-type:token-exchange"] {
                #expect(try await party.post("/oauth/token", ["grant_type": grant]).status == 400, "\(grant)")
            }
        }
    }

    @Test func `consent is given by its page's own form only`() async throws {
        let hostile = "<b onclick='x'>\"Photos&amp;"
        let configuration = RelyingParty.configuration.replacing(
            "name: { en: Gallery, de: Galerie }", with: "name: '\(hostile.replacing("'", with: "''"))'")
        try await TestServer.with(application: configuration) { server in
            let (party, ada) = (RelyingParty.public(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            let page = try await browser.signIn(ada, at: browser.begin(party))
            #expect(page.step == "consent" && !page.text.contains("<b ") && page.text.contains("&lt;b onclick="))
            #expect(page.text.contains("&quot;Photos&amp;amp;"))
            let form = try #require(page.forms.first).fields.merging(["action": "allow"]) { $1 }
            let linked = try await browser.open("\(page.path)?\(RelyingParty.encoded(form))")
            #expect(linked.step == "consent" && linked.code == nil)
            for header in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")] {
                var foreign = browser
                foreign.headers = [header.0: header.1]
                #expect(try await foreign.send(.POST, page.path, form: form).fault == "csrf", "\(header)")
            }
            #expect(try await browser.send(.POST, page.path, form: form.filter { $0.key != "csrf" }).fault == "csrf")
            #expect(try await server.count("SELECT count(*) FROM consents") == 0)
            #expect(try await browser.submit("allow", of: page).code != nil)
        }
    }

    @Test func `a page that showed another account consents to nothing`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, api) = (RelyingParty.public(server), APIClient(server))
            let (ada, ben) = (try await api.register(at: server), try await api.register(at: server))
            var browser = PageBrowser(server)
            _ = try await browser.signIn(ada, at: browser.begin(RelyingParty(server)))
            let shown = try await browser.begin(party, ["prompt": "select_account"])
            let first = try #require(shown.forms.first?.fields["account"])
            let consent = try await browser.submit("choose", of: shown, account: first)
            #expect(consent.step == "consent" && consent.text.contains(ada.email))
            // Another tab of the same request has signed somebody else in meanwhile.
            try await server.execute(
                "UPDATE sessions SET uid = $1 WHERE kind = 'browser'", [.uuid(UUID(uuidString: ben.uid))])
            try await server.execute("UPDATE sessions SET id = $1 WHERE kind = 'browser'", [.uuid(UUID())])
            let late = try await browser.submit("allow", of: consent)
            #expect(late.status == 200 && late.code == nil && late.step != "return", "\(late.text)")
            #expect(try await server.count("SELECT count(*) FROM consents") == 0)
        }
    }

    @Test func `an app on a device asks for a press, and is opened by a redirect`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty.native(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            let page = try await browser.begin(party)
            let policy = page.answer.headers.first(name: "content-security-policy") ?? ""
            #expect(policy.contains("form-action 'self' com.example.app:"))
            let done = try await browser.signIn(ada, at: page)
            #expect(
                done.status == 303 && done.target?.hasPrefix("com.example.app:/cb?code=") == true, "typing is enough")
            let confirm = try await browser.begin(party)
            #expect(confirm.step == "confirm" && confirm.text.contains(ada.email))
            #expect(try await browser.begin(party, ["prompt": "none"]).returnedError == "interaction_required")
            let other = try await browser.submit("other", of: confirm)
            #expect(other.step == "signin")
            let back = try await browser.submit("back", of: other)
            let pressed = try await browser.submit("continue", of: back)
            #expect(pressed.status == 303 && pressed.code != nil, "\(pressed.text)")
        }
    }

    @Test func `the answer can be posted to the client`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            let done = try await browser.signIn(ada, at: browser.begin(party, ["response_mode": "form_post"]))
            #expect(done.step == "form-post" && done.text.contains("action=\"\(party.redirectURI)\""))
            #expect(browser.sessions != nil && done.text.contains("name=\"code\""))
        }
    }
}
