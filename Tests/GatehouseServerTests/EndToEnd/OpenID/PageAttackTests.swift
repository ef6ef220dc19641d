import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// What other browsers, other sites and earlier pages can do with the pages of a request: nothing.
struct PageAttackTests {
    @Test func `forms of other sites, and without this page's token, change nothing`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let (page, other) = (
                try await browser.begin(RelyingParty(server)), try await browser.begin(RelyingParty(server))
            )
            let fields = ["identifier": ada.email, "password": ada.password, "action": "password"]
            let token = page.forms.first?.fields["csrf"] ?? ""
            let wrong: [String?] = [
                nil, "", ".", "x", token + "A", String(token.dropLast()), other.forms.first?.fields["csrf"],
            ]
            for csrf in wrong {
                let form = csrf.map { fields.merging(["csrf": $0]) { $1 } } ?? fields
                let sent = try await browser.send(.POST, page.path, form: form)
                #expect(sent.status == 403 && sent.fault == "csrf", "\(csrf ?? "none")")
            }
            let right = fields.merging(["csrf": token]) { $1 }
            for (name, value) in [
                ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"), ("sec-fetch-site", "none"),
                ("origin", "https://evil.example"), ("origin", "null"), ("origin", "http://127.0.0.1"),
            ] {
                var foreign = browser
                foreign.headers.add(name: name, value: value)
                let sent = try await foreign.send(.POST, page.path, form: right)
                #expect(sent.status == 403 && sent.fault == "csrf", "\(name): \(value)")
            }
            let linked = try await browser.open("\(page.path)?\(RelyingParty.encoded(right))")
            #expect(linked.step == "signin" && browser.sessions == nil, "a GET posts nothing")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 0)
            #expect(try await browser.send(.POST, page.path, form: right).code != nil)
        }
    }

    @Test func `twenty submits at once make one code and one session`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty.public(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            let page = try await browser.signIn(ada, at: browser.begin(party))
            try #require(page.step == "consent")
            let codes = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask { [browser] in
                        var tab = browser
                        return try await tab.submit("allow", of: page).code
                    }
                }
                return try await group.reduce(into: [String]()) { codes, code in if let code { codes.append(code) } }
            }
            #expect(Set(codes).count == 1, "each tab gets the same code")
            #expect(try await server.count("SELECT count(*) FROM authorization_codes WHERE client_id = 'spa'") == 1)
            #expect(try await party.redeem(codes.first ?? "").status == 200)
        }
    }

    @Test func `pages are private, small, and say where they are framed`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            let hostile = "\"><script>alert(1)</script>@example.com"
            let page = try await browser.begin(RelyingParty(server), ["login_hint": hostile])
            let headers = page.answer.headers
            #expect(headers.first(name: "cache-control") == "no-store")
            #expect(headers.first(name: "referrer-policy") == "same-origin")
            #expect(headers.first(name: "x-frame-options") == "DENY")
            let policy = headers.first(name: "content-security-policy") ?? ""
            #expect(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"))
            #expect(!page.text.contains("<script") && page.text.utf8.count <= 24 * 1024)
            #expect(page.forms.first?.fields["identifier"] == hostile)
            for language in ["de", "fr", "es"] {
                #expect(
                    try await browser.open("\(page.path)?lang=\(language)").text.contains("lang=\"\(language)\">\n"))
            }
            #expect(try await browser.open("\(page.path)?lang=%22").status == 200)
        }
    }

    @Test func `an unknown path is a page for browsers only`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            expectError(try await browser.open("/nothing").answer, 404, "NOT_FOUND")
            browser.headers.add(name: "accept", value: "text/html,*/*;q=0.8")
            let page = try await browser.open("/nothing")
            #expect(page.status == 404 && page.step == "error" && page.fault == "not_found")
        }
    }

    @Test func `a request that is over says so in its browser only`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server))
            try await server.age("authorization_requests", "expires_at", by: "31 minutes", where: "true")
            #expect(try await browser.open(page.path).fault == "request_over")
            var other = PageBrowser(server)
            #expect(try await other.open(page.path).fault == "not_your_request")
        }
    }

    @Test func `forms count toward the limits of the REST interface`() async throws {
        try await TestServer.with(application: RelyingParty.configuration, rateLimits: "{ login: 3/h }") { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server))
            for _ in 0..<2 {
                _ = try await browser.submit("password", ["identifier": "a@b.example", "password": "x"], of: page)
            }
            let login: JSONValue = ["email": .string(ada.email), "password": "wrong horse"]
            #expect(try await APIClient(server).post("/auth/login", login).status == 401)
            let limited = try await browser.signIn(ada, at: page)
            #expect(limited.status == 429 && limited.problem == "RATE_LIMITED" && limited.step == "signin")
            #expect(limited.answer.retryAfter ?? 0 > 0 && limited.forms.first?.fields["identifier"] == ada.email)
        }
    }
}
