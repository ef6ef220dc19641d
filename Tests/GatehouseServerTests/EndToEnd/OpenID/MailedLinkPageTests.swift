import Accounts
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The pages of mailed links, which confirm a registration or set a new password.
struct MailedLinkPageTests {
    private static let cookie = "gatehouse-link-demo"
    private static let live: StaticString = "SELECT count(*) FROM sessions WHERE ended_at IS NULL"

    @Test(arguments: ["", RelyingParty.configuration])
    func `a token leaves the URL for a cookie, and opening its link changes nothing`(openID: String) async throws {
        try await TestServer.with(application: openID) { server in
            let (api, address) = (APIClient(server), APIClient.newAddress())
            let token = try await api.pend(at: server, address)
            for (page, action) in [("/verify-email", "verify"), ("/reset-password", "save")] {
                for method in [HTTPMethod.GET, .HEAD] {
                    let moved = try await api.send(method, "\(page)?token=\(token)&lang=de")
                    #expect(moved.status == 303 && moved.headers.first(name: "location")?.hasSuffix(page) == true)
                    let attributes = "; Path=\(page); Max-Age=600; HttpOnly; SameSite=Lax"
                    #expect(moved.headers["set-cookie"].first == "\(Self.cookie)=\(token)\(attributes)")
                    #expect(moved.headers.first(name: "cache-control") == "no-store")
                }
                var browser = PageBrowser(server)
                let view = try await browser.open("\(page)?token=\(token)")
                #expect(view.status == 200 && view.path == page && "/\(view.step ?? "")" == page, "\(view.text)")
                #expect(view.accepts(action) && view.forms.first?.fields["password"] == "")
                #expect(!view.text.contains(token) && !view.text.contains("<script"))
                #expect(
                    view.answer.headers.first(name: "content-security-policy")?.contains("script-src 'none'") == true)
                #expect(try await browser.open(page + "?lang=de").text.contains("<html lang=\"de\">"))
                // A text that can be no token reaches no header, and takes the place of the token before it.
                let other = try await browser.open(page + "?token=x%0D%0Ax;%20Path=/")
                #expect(other.status == 400 && other.problem == "INVALID_TOKEN" && other.forms.isEmpty)
                #expect(browser.cookies[Self.cookie] == nil)
            }
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)
            #expect(try await api.verify(token).status == 200)
        }
    }

    @Test func `the cookie belongs to the page of one application`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let token = String(repeating: "A", count: 43)
            let moved = try await APIClient(server, application: "photos").send(.GET, "/reset-password?token=\(token)")
            #expect(moved.headers.first(name: "location") == "/apps/photos/reset-password")
            let cookie = moved.headers.first(name: "set-cookie")
            #expect(cookie?.hasPrefix("gatehouse-link-photos=\(token); Path=/apps/photos/reset-password;") == true)
        }
    }

    @Test(arguments: ["", RelyingParty.configuration])
    func `a registration is confirmed with its password, which uses the link up`(openID: String) async throws {
        try await TestServer.with(application: openID) { server in
            let (api, address) = (APIClient(server), APIClient.newAddress())
            let token = try await api.pend(at: server, address)
            var browser = PageBrowser(server)
            var view = try await browser.open("/verify-email?token=\(token)")
            view = try await browser.submit("verify", ["password": "wrong horse"], of: view)
            #expect(view.status == 400 && view.step == "verify-email" && view.problem == "INVALID_CREDENTIALS")
            #expect(!view.text.contains("wrong horse") && view.text.contains("aria-describedby=\"problem\""))
            let before = browser
            let done = try await browser.submit("verify", ["password": APIClient.password], of: view)
            #expect(done.status == 200 && done.step == "done" && done.target == nil, "\(done.text)")
            #expect(browser.cookies[Self.cookie] == nil && browser.sessions == nil)
            #expect(try await server.count(Self.live) == 0, "the page keeps no session")
            #expect(try await api.login(address).status == 200)
            browser = before
            let again = try await browser.submit("verify", ["password": APIClient.password], of: view)
            #expect(again.status == 400 && again.problem == "INVALID_TOKEN" && again.forms.isEmpty)
            #expect(browser.cookies[Self.cookie] == nil)
        }
    }

    @Test func `a new password is set, and a weak one is refused in words`() async throws {
        try await TestServer.with { server in
            let (api, person) = (APIClient(server), try await APIClient(server).register(at: server))
            let token = try await api.forget(at: server, person.email)
            var browser = PageBrowser(server)
            var view = try await browser.open("/reset-password?token=\(token)")
            let words = ["en": "too short", "de": "zu kurz", "fr": "trop court", "es": "demasiado corta"]
            for (language, text) in words {
                view = try await browser.open("/reset-password?lang=\(language)")
                view = try await browser.submit("save", ["password": "short"], of: view)
                #expect(view.status == 400 && view.problem == "TOO_WEAK_PASSWORD" && view.accepts("save"))
                #expect(view.text.contains(text) && view.text.contains("<html lang=\"\(language)\">"), "\(view.text)")
            }
            view = try await browser.submit("save", [:], of: view)
            #expect(view.status == 400 && view.problem == "MISSING_PARAMETER")
            #expect(try await api.login(person.email).status == 200, "nothing has changed yet")
            let done = try await browser.submit("save", ["password": APIClient.otherPassword], of: view)
            #expect(done.status == 200 && done.step == "done" && browser.cookies[Self.cookie] == nil)
            #expect(try await api.login(person.email, APIClient.otherPassword).status == 200)
            #expect(try await api.get("/auth/me", bearer: person.accessToken).status == 401)
        }
    }

    @Test func `forms of other sites, browsers and pages change nothing`() async throws {
        try await TestServer.with { server in
            let (api, address) = (APIClient(server), APIClient.newAddress())
            let token = try await api.pend(at: server, address)
            var browser = PageBrowser(server)
            let view = try await browser.open("/verify-email?token=\(token)")
            let csrf = try #require(view.forms.first?.fields["csrf"])
            let form = ["action": "verify", "password": APIClient.password, "csrf": csrf]
            var reset = browser
            let other = try await reset.open("/reset-password").forms.first?.fields["csrf"] ?? ""
            for wrong in ["", "x", csrf + "x", other] {
                let refused = try await browser.send(.POST, "/verify-email", form: form.merging(["csrf": wrong]) { $1 })
                #expect(refused.status == 403 && refused.fault == "csrf", "\(wrong)")
            }
            for (name, value) in [
                ("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "same-site"),
            ] {
                var foreign = browser
                foreign.headers.add(name: name, value: value)
                let refused = try await foreign.send(.POST, "/verify-email", form: form)
                #expect(refused.status == 403 && refused.fault == "csrf", "\(value)")
            }
            var elsewhere = PageBrowser(server)
            let refused = try await elsewhere.send(.POST, "/verify-email", form: form)
            #expect(refused.status == 400 && refused.problem == "INVALID_TOKEN")
            // The cookie of another link does not make the form that of the link.
            elsewhere.cookies[Self.cookie] = String(repeating: "A", count: 43)
            #expect(try await elsewhere.send(.POST, "/verify-email", form: form).fault == "csrf")
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)
            #expect(try await browser.send(.POST, "/verify-email", form: form).step == "done")
        }
    }

    @Test func `links of other kinds do nothing at the pages`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (api, person) = (APIClient(server), try await APIClient(server).register(at: server))
            let address = APIClient.newAddress()
            // A link that signs in, and one that links an address to the account of a bearer.
            _ = try await api.post("/auth/email/otp", ["email": .string(address)])
            let signIn = try await api.mailedToken(to: address, at: server)
            let joined = APIClient.newAddress()
            _ = try await api.post(
                "/auth/identities/email", ["email": .string(joined), "password": .string(APIClient.password)],
                bearer: person.accessToken)
            let joining = try await api.mailedToken(to: joined, at: server)
            let reset = try await api.forget(at: server, person.email)
            for token in [signIn, joining, reset] {
                var browser = PageBrowser(server)
                _ = try await browser.begin(RelyingParty(server))
                let view = try await browser.open("/verify-email?token=\(token)")
                let refused = try await browser.submit("verify", ["password": APIClient.password], of: view)
                #expect(refused.status == 400 && refused.problem == "INVALID_TOKEN" && browser.sessions == nil)
            }
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
            #expect(try await server.count(Self.live) == 1)
        }
    }

    @Test func `forms share the limits of the calls that they are like`() async throws {
        try await TestServer.with(rateLimits: "{ login: 2/min }") { server in
            let api = APIClient(server)
            let token = try await api.pend(at: server, APIClient.newAddress())
            var browser = PageBrowser(server)
            let view = try await browser.open("/verify-email?token=\(token)")
            for status in [400, 400, 429] {
                let refused = try await browser.submit("verify", ["password": "wrong horse"], of: view)
                #expect(refused.status == status && refused.accepts("verify"))
                guard status == 429 else { continue }
                #expect(refused.problem == "RATE_LIMITED" && refused.answer.retryAfter != nil)
            }
            expectError(try await api.login("a@example.com"), 429, "RATE_LIMITED")
        }
    }

    // MARK: - Open requests

    @Test func `in the browser of an open request a confirmed registration signs in to it`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, api, address) = (RelyingParty(server), APIClient(server), APIClient.newAddress())
            var browser = PageBrowser(server)
            _ = try await browser.begin(.public(server))
            _ = try await browser.begin(party)
            let token = try await api.pend(at: server, address)
            let view = try await browser.open("/verify-email?token=\(token)")
            let flow = browser.cookies["gatehouse-browser-demo"]
            let done = try await browser.submit("verify", ["password": APIClient.password], of: view)
            #expect(done.status == 200 && done.step == "return", "the newest request goes on: \(done.text)")
            #expect(browser.cookies[Self.cookie] == nil && browser.cookies["gatehouse-browser-demo"] == flow)
            let tokens = try await party.redeem(done.code ?? "")
            let info = try await party.userInfo(tokens["access_token"].string ?? "")
            #expect(info["email"].string == address && info["email_verified"] == true, "\(info.text)")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'api'") == 0)
            #expect(try await browser.begin(party, ["prompt": "none"]).code != nil, "the browser is signed in")
        }
    }

    @Test(arguments: [true, false])
    func `a reset of an account that is being deleted leads to its restoration`(hasRequest: Bool) async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (api, person) = (APIClient(server), try await APIClient(server).register(at: server))
            try await api.deleteAccount(person)
            var browser = PageBrowser(server)
            if hasRequest { _ = try await browser.begin(RelyingParty(server)) }
            let token = try await api.forget(at: server, person.email)
            var view = try await browser.open("/reset-password?token=\(token)")
            view = try await browser.submit("save", ["password": APIClient.otherPassword], of: view)
            #expect(view.step == "restore" && view.path.hasPrefix("/signin/"), "\(view.text)")
            #expect(browser.cookies[Self.cookie] == nil && browser.sessions == nil)
            expectError(try await api.login(person.email), 401, "INVALID_CREDENTIALS")
            view = try await browser.submit("restore", of: view)
            #expect(view.step == "signin" && browser.sessions == nil, "nobody signs others in by a link: \(view.text)")
            let typed = ["identifier": person.email, "password": APIClient.otherPassword]
            view = try await browser.submit("password", typed, of: view)
            #expect(hasRequest ? view.code != nil : view.path == "/account", "\(view.text)")
        }
    }

    @Test func `a restoration by a mailed link leaves the browser's own account signed in`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, api) = (RelyingParty(server), APIClient(server))
            let (own, sent) = (try await api.register(at: server), try await api.register(at: server))
            try await api.deleteAccount(sent)
            var browser = PageBrowser(server)
            let typed = ["identifier": own.email, "password": own.password]
            let page = try await browser.begin(party)
            #expect(try await browser.submit("password", typed, of: page).code != nil)
            let token = try await api.forget(at: server, sent.email)
            var view = try await browser.open("/reset-password?token=\(token)")
            view = try await browser.submit("save", ["password": APIClient.otherPassword], of: view)
            #expect(view.step == "restore", "\(view.text)")
            view = try await browser.submit("restore", of: view)
            let code = try #require(try await browser.begin(party, ["prompt": "none"]).code)
            let tokens = try await party.redeem(code)
            #expect(try await party.userInfo(tokens["access_token"].string ?? "")["sub"].string == own.uid)
            #expect(try await api.login(sent.email, APIClient.otherPassword)["user"]["id"].string == sent.uid)
        }
    }

    @Test func `the language that was chosen at the link's page holds at the account pages`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (api, address) = (APIClient(server), APIClient.newAddress())
            var browser = PageBrowser(server)
            _ = try await browser.open("/signin")
            let token = try await api.pend(at: server, address)
            _ = try await browser.open("/verify-email?token=\(token)")
            let view = try await browser.open("/verify-email?lang=de")
            let account = try await browser.submit("verify", ["password": APIClient.password], of: view)
            #expect(account.path == "/account" && account.text.contains("<html lang=\"de\">"), "\(account.text)")
        }
    }

    @Test func `after a reset the request goes on where the person signs in`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, api) = (RelyingParty(server), APIClient(server))
            let person = try await api.register(at: server)
            var browser = PageBrowser(server)
            let page = try await browser.begin(party)
            let token = try await api.forget(at: server, person.email)
            var view = try await browser.open("/reset-password?token=\(token)")
            view = try await browser.submit("save", ["password": APIClient.otherPassword], of: view)
            #expect(view.step == "done" && view.target == PageBrowser.issuer + page.path, "\(view.text)")
            view = try await browser.open(view.target ?? "")
            #expect(view.step == "signin")
            view = try await browser.submit(
                "password", ["identifier": person.email, "password": APIClient.otherPassword], of: view)
            #expect(view.step == "return" && view.code != nil)
            // A request that has ended is not continued.
            let second = try await api.forget(at: server, person.email)
            view = try await browser.open("/reset-password?token=\(second)")
            view = try await browser.submit("save", ["password": APIClient.thirdPassword], of: view)
            #expect(view.step == "done" && view.target == nil)
        }
    }
}
