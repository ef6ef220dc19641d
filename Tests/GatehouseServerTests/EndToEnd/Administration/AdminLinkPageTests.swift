import Accounts
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The pages `/invitation` and `/recover`, with a browser that runs no scripts.
struct AdminLinkPageTests {
    private static let cookie = "gatehouse-link-demo"
    private static let live: StaticString = "SELECT count(*) FROM sessions WHERE ended_at IS NULL"

    @Test(arguments: ["", RelyingParty.configuration])
    func `a token leaves the URL for a cookie, and opening its link changes nothing`(openID: String) async throws {
        try await TestServer.inviting(application: openID) { server, client, key in
            let address = APIClient.newAddress()
            let person = try await client.register(at: server)
            let tokens = [
                "/invitation": try await client.invitation(to: address, by: key, at: server),
                "/recover": try await client.recovery(of: person, by: key, at: server),
            ]
            for (page, token) in tokens {
                for method in [HTTPMethod.GET, .HEAD] {
                    let moved = try await client.send(method, "\(page)?token=\(token)&lang=de")
                    #expect(moved.status == 303 && moved.headers.first(name: "location")?.hasSuffix(page) == true)
                    let attributes = "; Path=\(page); Max-Age=600; HttpOnly; SameSite=Lax"
                    #expect(moved.headers["set-cookie"].first == "\(Self.cookie)=\(token)\(attributes)")
                }
                var browser = PageBrowser(server)
                let view = try await browser.open("\(page)?token=\(token)")
                #expect(view.status == 200 && view.path == page && "/\(view.step ?? "")" == page, "\(view.text)")
                #expect(view.accepts("save") && view.forms.first?.fields["password"] == "")
                #expect(!view.text.contains(token) && !view.text.contains("<script"))
                let other = try await browser.open(page + "?token=nonsense")
                #expect(other.status == 400 && other.problem == "INVALID_TOKEN" && other.forms.isEmpty)
            }
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200)
            #expect(try await client.accept(try #require(tokens["/invitation"])).status == 200)
            let password: [String: JSONValue] = ["newPassword": .string(APIClient.otherPassword)]
            #expect(try await client.recover(try #require(tokens["/recover"]), password).status == 200)
        }
    }

    @Test(arguments: ["", RelyingParty.configuration])
    func `an invitation opens the account, and the page keeps no session`(openID: String) async throws {
        try await TestServer.inviting(application: openID) { server, client, key in
            let address = APIClient.newAddress()
            let token = try await client.invitation(to: address, ["roles": ["editor"]], by: key, at: server)
            var browser = PageBrowser(server)
            var view = try await browser.open("/invitation?token=\(token)")
            view = try await browser.submit("save", ["displayName": "Ada", "password": "short"], of: view)
            #expect(view.status == 400 && view.problem == "TOO_WEAK_PASSWORD", "\(view.text)")
            #expect(view.forms.first?.fields["displayName"] == "Ada" && !view.text.contains("short\""))
            let long = String(repeating: "a", count: 257)
            view = try await browser.submit("save", ["displayName": long], of: view)
            #expect(view.status == 400 && view.problem == "INVALID_PARAMETER")
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)
            let form = ["displayName": "Ada", "password": APIClient.password]
            let done = try await browser.submit("save", form, of: view)
            #expect(done.status == 200 && done.step == "done" && done.target == nil, "\(done.text)")
            #expect(browser.cookies[Self.cookie] == nil && browser.sessions == nil)
            #expect(try await server.count(Self.live) == 0)
            let login = try await client.login(address)
            #expect(login["user"]["displayName"] == "Ada" && login["user"]["roles"] == ["editor"], "\(login.text)")
            let again = try await browser.submit("save", form, of: view)
            #expect(again.status == 400 && again.problem == "INVALID_TOKEN" && again.forms.isEmpty)
        }
    }

    @Test func `a recovery sets the password, after which the request goes on where the person signs in`() async throws
    {
        try await TestServer.inviting(application: RelyingParty.configuration) { server, client, key in
            let person = try await client.register(at: server)
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server))
            let token = try await client.recovery(of: person, by: key, at: server)
            var view = try await browser.open("/recover?token=\(token)")
            view = try await browser.submit("save", of: view)
            #expect(view.status == 400 && view.problem == "MISSING_PARAMETER")
            for (language, text) in ["en": "too short", "de": "zu kurz", "fr": "trop court", "es": "demasiado corta"] {
                view = try await browser.open("/recover?lang=\(language)")
                view = try await browser.submit("save", ["password": "short"], of: view)
                #expect(view.problem == "TOO_WEAK_PASSWORD" && view.text.contains(text), "\(view.text)")
            }
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200, "nothing has changed")
            view = try await browser.submit("save", ["password": APIClient.otherPassword], of: view)
            #expect(view.step == "done" && view.target == PageBrowser.issuer + page.path, "\(view.text)")
            #expect(browser.cookies[Self.cookie] == nil && browser.sessions == nil)
            #expect(try await server.liveSessions(of: person.uid) == 0)
            #expect(try await client.login(person.email, APIClient.otherPassword).status == 200)
        }
    }

    @Test func `forms of other sites, browsers and pages change nothing`() async throws {
        try await TestServer.inviting { server, client, key in
            let token = try await client.invitation(to: APIClient.newAddress(), by: key, at: server)
            var browser = PageBrowser(server)
            let view = try await browser.open("/invitation?token=\(token)")
            let csrf = try #require(view.forms.first?.fields["csrf"])
            let form = ["action": "save", "csrf": csrf]
            var recovery = PageBrowser(server)
            let other = try await recovery.open("/recover?token=\(token)").forms.first?.fields["csrf"] ?? ""
            for wrong in ["", "x", csrf + "x", other] {
                let refused = try await browser.send(.POST, "/invitation", form: form.merging(["csrf": wrong]) { $1 })
                #expect(refused.status == 403 && refused.fault == "csrf", "\(wrong)")
            }
            for (name, value) in [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "none")] {
                var foreign = browser
                foreign.headers.add(name: name, value: value)
                #expect(try await foreign.send(.POST, "/invitation", form: form).status == 403, "\(value)")
            }
            var elsewhere = PageBrowser(server)
            #expect(try await elsewhere.send(.POST, "/invitation", form: form).problem == "INVALID_TOKEN")
            // An invitation is no recovery, whatever page it is opened at.
            let unusable = try await recovery.send(
                .POST, "/recover", form: ["action": "save", "csrf": other, "password": APIClient.password])
            #expect(unusable.status == 400 && unusable.problem == "INVALID_TOKEN")
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)
            #expect(try await browser.send(.POST, "/invitation", form: form).step == "done")
        }
    }
}
