import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The first page of an application: its account pages, or what runs under `gatehouse dev`.
struct StartPageTests {
    @Test func `without a development server it leads a browser to the account`() async throws {
        var file = ServerFile(database: try await TemporaryPostgres.database())
        let client = "{ name: Web, public: true, redirectURIs: [\"https://a.example/cb\"] }"
        file.providers = "\n    openid: { clients: { web: \(client) } }"
        try await ProcessDirectory.with { [file] directory in
            try await file.serve(in: directory) { process, client in
                for method in [HTTPMethod.GET, .HEAD] {
                    let answer = try await client.send(method, "/", headers: Self.browser)
                    #expect(answer.status == 303, "\(answer.text)")
                    #expect(answer.headers.first(name: "location") == "http://127.0.0.1:1/account")
                }
                expectError(try await client.send(.GET, "/", headers: ["accept": "*/*"]), 404, "NOT_FOUND")
                expectError(try await client.send(.POST, "/", headers: Self.browser), 405, "METHOD_NOT_ALLOWED")
                #expect(try await process.end(by: SIGTERM) == 0)
            }
        }
    }

    @Test func `without an OpenID provider there is nothing`() async throws {
        try await TestServer.with { server in
            for method in [HTTPMethod.GET, .POST] {
                expectError(try await APIClient(server).send(method, "/", headers: Self.browser), 404, "NOT_FOUND")
            }
        }
    }

    @Test func `the development server shows what runs`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            browser.headers = Self.browser
            let page = try await browser.open("/")
            #expect(page.status == 200 && page.text.contains("<b>demo</b>") && page.accepts("guest"), "\(page.text)")
            for path in ["/account", "/dev/inbox", "/openapi.json"] {
                #expect(page.text.contains("href=\"\(PageBrowser.issuer)\(path)\""), "\(path)")
            }
            #expect(page.text.contains("E-mail <span") && page.text.contains("Continue as guest <span"))
            #expect(!page.text.contains("<script") && !page.text.contains("id=\"authorize\""))
            let policy = page.answer.headers.first(name: "content-security-policy")
            #expect(policy?.contains("form-action 'self'") == true && policy?.contains("script-src 'none'") == true)
            expectError(try await APIClient(server).send(.GET, "/", headers: ["accept": "*/*"]), 404, "NOT_FOUND")
            // A page whose host name leads to loopback gets nothing to read and no cookie.
            var rebound = Self.browser
            rebound.add(name: "host", value: "evil.example")
            let elsewhere = try await APIClient(server).send(.GET, "/", headers: rebound)
            #expect(elsewhere.status == 303 && elsewhere.headers.first(name: "location") == PageBrowser.issuer + "/")
            #expect(elsewhere.headers["set-cookie"].isEmpty)
        }
    }

    @Test func `one click opens a guest's session, and no form of others does`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let sessions: StaticString = "SELECT count(*) FROM sessions"
            var browser = PageBrowser(server)
            browser.headers = Self.browser
            let page = try await browser.open("/")
            var foreign = browser
            foreign.headers.add(name: "sec-fetch-site", value: "cross-site")
            #expect(try await foreign.submit("guest", of: page).fault == "csrf")
            foreign = browser
            foreign.cookies = [:]
            #expect(try await foreign.submit("guest", of: page).fault == "csrf")
            let forged = try await browser.submit("guest", ["csrf": "x"], of: page)
            #expect(forged.status == 403 && forged.fault == "csrf")
            #expect(try await server.count(sessions) == 0)

            let account = try await browser.submit("guest", of: page)
            #expect(account.path == "/account", "\(account.text)")
            #expect(browser.sessions != nil && browser.cookies["gatehouse-account-demo"] != nil)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)
            #expect(try await server.count(sessions) == 1)
        }
    }

    private static let browser: HTTPHeaders = ["accept": "text/html,application/xhtml+xml;q=0.9"]
}
