import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Apps of the REST interface that sign people in at the application's own pages, as the provider `hosted`.
struct HostedPagesTests {
    static let web = "https://app.example/cb"

    private func with(
        _ body: @Sendable @escaping (TestServer, RedirectClient) async throws -> Void
    ) async throws {
        let uris = """

            redirectURIs: ["\(Self.web)", "demo://oauth/callback", { uri: "https://app.example/plain", pkce: false }]
            """
        try await TestServer.with(
            application: RelyingParty.configuration + uris, providers: "scripted: { enabled: true }"
        ) { server in
            var app = RedirectClient(api: APIClient(server), redirectURI: Self.web)
            app.provider = "hosted"
            try await body(server, app)
        }
    }

    /// Opens the pages for an app, by the URL that it gets as JSON.
    private func open(
        _ app: RedirectClient, in browser: inout PageBrowser, _ parameters: [String: String] = [:]
    ) async throws -> PageBrowser.View {
        let begun = try await app.authorize(parameters)
        let url = try #require(begun["url"].string, "\(begun.text)")
        return try await browser.open(url)
    }

    @Test func `a sign-in at the pages opens a session of the app`() async throws {
        try await with { server, app in
            let person = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let page = try await open(app, in: &browser, ["state": "s t&"])
            #expect(page.step == "signin" && page.path.hasPrefix("/signin/"), "\(page.text)")
            #expect(!page.text.contains("~hosted"))
            let done = try await browser.signIn(person, at: page)
            #expect(done.step == "return" && done.target?.hasPrefix(Self.web + "?") == true, "\(done.text)")
            let query = done.target.flatMap { URLComponents(string: $0) }
            #expect(query?.query("state") == "s t&")
            try await server.execute(
                "UPDATE sessions SET authenticated_at = now() - interval '90 s' WHERE kind = 'browser'")
            // The second app gets the same account without a page, with the time of the sign-in.
            let silent = try await open(app, in: &browser)
            for code in [done.code, silent.code] {
                let answer = try await app.redeem(code)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer["user"]["id"].string == person.uid && answer["auth"]["provider"] == "email")
                let claims = try DecodedToken(answer["accessToken"].string ?? "").claims
                #expect(claims["amr"] == ["pwd"], "\(claims)")
                let me = try await APIClient(server).get("/auth/me", bearer: answer["accessToken"].string)
                #expect(me.status == 200)
                #expect(try await APIClient(server).refresh(answer["refreshToken"].string ?? "").status == 200)
            }
            #expect(
                try await server.count(
                    "SELECT count(*) FROM sessions WHERE kind = 'api' AND authenticated_at < created_at - interval '80 s'"
                ) == 1, "the sign-in's time stays")
        }
    }

    @Test func `an app can ask for a short session where it begins`() async throws {
        try await with { server, app in
            let person = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let page = try await open(app, in: &browser, ["remember": "false"])
            let done = try await browser.signIn(person, at: page)
            let lasting = try await open(app, in: &browser)
            for (code, hours) in [(done.code, 12), (lasting.code, 30 * 24)] {
                let answer = try await app.redeem(code)
                let end = Int(answer["auth"]["sessionExpires"].integer ?? 0)
                let left = end - Int(Date().timeIntervalSince1970)
                #expect((hours * 3600 - 60...hours * 3600).contains(left), "\(answer.text)")
            }
            expectError(try await app.post(["parameters": ["login_hint": "x"]]), 400, "INVALID_PARAMETER")
        }
    }

    @Test func `with mode=redirect the browser is sent to the pages`() async throws {
        try await with { server, app in
            let begun = try await app.authorize(["mode": "redirect"])
            #expect(begun.status == 302, "\(begun.text)")
            var (browser, other) = (PageBrowser(server), PageBrowser(server))
            let place = try #require(begun.headers.first(name: "location"))
            let page = try await browser.open(place)
            #expect(page.step == "signin")
            #expect(try await other.open(place).fault == "invalid_request_uri", "the first browser has the request")
            #expect(try await other.open(page.path).fault == "not_your_request")
        }
    }

    @Test func `the code is bound like any other of a redirect flow`() async throws {
        try await with { server, app in
            let person = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            var code = try await browser.signIn(person, at: open(app, in: &browser)).code
            expectError(try await app.redeem(code, verifier: String(repeating: "v", count: 43)), 401, "INVALID_TOKEN")
            expectError(try await app.redeem(code), 401, "INVALID_TOKEN")
            code = try await open(app, in: &browser).code
            expectError(try await app.redeem(code, redirectURI: "demo://oauth/callback"), 401, "INVALID_TOKEN")
            code = try await open(app, in: &browser).code
            expectError(try await app.redeem(code, state: "another"), 400, "INVALID_STATE")
            code = try await open(app, in: &browser).code
            let first = try await app.redeem(code)
            #expect(first.status == 200)
            let noted = try await server.count(
                "SELECT count(*) FROM redirect_flows f JOIN sessions s USING (application_id) WHERE s.id = f.session_id"
            )
            #expect(noted == 1)
            expectError(try await app.redeem(code), 401, "INVALID_TOKEN")
            try await server.age("redirect_flows", "redeemed_at", by: "3 seconds", where: "redeemed_at IS NOT NULL")
            expectError(try await app.redeem(code), 401, "INVALID_TOKEN")
            let me = try await APIClient(server).get("/auth/me", bearer: first["accessToken"].string)
            expectError(me, 401, "INVALID_TOKEN")
            #expect(try await open(app, in: &browser).code != nil, "the browser's session stays")
            code = try await open(app, in: &browser).code
            expectError(try await app.redeem(code, redirectURI: "demo://oauth/callback"), 401, "INVALID_TOKEN")
            try await server.age("redirect_flows", "redeemed_at", by: "3 seconds", where: "redeemed_at IS NOT NULL")
            expectError(try await app.redeem(code), 401, "INVALID_TOKEN")
            #expect(try await open(app, in: &browser).code != nil, "also after a replay of a code that was refused")

            var plain = app
            plain.redirectURI = "https://app.example/plain"
            let begun = try await plain.authorize(omitting: ["code_challenge", "code_challenge_method"])
            code = try await browser.open(begun["url"].string ?? "").code
            expectError(try await plain.redeem(code, withoutVerifier: true), 400, "MISSING_PARAMETER")
            code = try await browser.open(
                plain.authorize(omitting: ["code_challenge", "code_challenge_method"])["url"].string ?? ""
            ).code
            #expect(code != nil)
        }
    }

    @Test(arguments: ["reset", "signed out", "expired", "disabled", "moved"])
    func `a code is worth nothing once the session has ended or the identity has moved`(_ end: String) async throws {
        try await with { server, app in
            let api = APIClient(server)
            let person = try await api.register(at: server)
            var browser = PageBrowser(server)
            let code = try await browser.signIn(person, at: open(app, in: &browser)).code
            switch end {
            case "reset": #expect(try await api.resetPassword(of: person.email, at: server).status == 204)
            case "signed out":
                let page = try await browser.open("/oauth/logout")
                #expect(try await browser.submit("signout", of: page).step == "signed-out")
            case "expired":
                try await server.execute("UPDATE sessions SET idle = interval '1 s' WHERE kind = 'browser'")
                try await server.age("sessions", "last_used_at", by: "2 s", where: "kind = 'browser'")
            case "moved":
                let other = try await api.register(at: server)
                try await server.execute(
                    "UPDATE identities SET uid = $1 WHERE uid = $2",
                    [.uuid(UUID(uuidString: other.uid)), .uuid(UUID(uuidString: person.uid))])
            default:
                try await server.execute(
                    "UPDATE sessions SET ended_at = now(), end_reason = 'accountDisabled' WHERE kind = 'browser'")
                try await server.execute("UPDATE accounts SET disabled_at = now()")
            }
            expectError(try await app.redeem(code), 401, "INVALID_TOKEN")
        }
    }

    @Test func `cancelling, and an app that is no longer registered, sign nobody in`() async throws {
        try await with { server, app in
            var browser = PageBrowser(server)
            let page = try await open(app, in: &browser, ["state": "mine"])
            let cancelled = try await browser.open(page.link("cancel") ?? "")
            let query = cancelled.target.flatMap { URLComponents(string: $0) }
            #expect(cancelled.returnedError == "access_denied" && query?.query("state") == "mine", "\(cancelled.text)")
            var unknown = app
            unknown.redirectURI = "https://evil.example/cb"
            expectError(try await unknown.authorize(), 403, "UNAUTHORIZED_REQUEST_ORIGIN")
            expectError(try await app.authorize(omitting: ["code_challenge"]), 400, "MISSING_PARAMETER")
            for parameters in ["client_id=~hosted&redirect_uri=\(Self.web.formEncoded)", "client_id=~account"] {
                let answer = try await browser.open("/oauth/authorize?\(parameters)&response_type=code")
                #expect(answer.fault == "invalid_client")
            }
            let id = page.path.dropFirst("/signin/".count)
            let own = "urn:ietf:params:oauth:request_uri:\(id)".formEncoded
            #expect(try await browser.open("/oauth/authorize?client_id=web&request_uri=\(own)").fault != nil)
        }
    }

    @Test func `an app on a device asks to continue`() async throws {
        try await with { server, app in
            var app = app
            app.redirectURI = "demo://oauth/callback"
            let person = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let first = try await browser.signIn(person, at: open(app, in: &browser))
            #expect(first.status == 303 && first.target?.hasPrefix("demo://oauth/callback?") == true, "\(first.text)")
            let confirm = try await open(app, in: &browser)
            #expect(confirm.step == "confirm", "\(confirm.text)")
            let done = try await browser.submit("continue", of: confirm)
            #expect(done.status == 303)
            #expect(try await app.redeem(done.code).status == 200)
        }
    }

    @Test func `a provider's pages lead back through ours to the app`() async throws {
        try await with { server, app in
            let evidence = VerifiedIdentity.somebody()
            var browser = PageBrowser(server)
            let asked = try await browser.present(evidence, at: open(app, in: &browser))
            let welcome = try await browser.submit("create", of: asked)
            let done = try await browser.submit("skip", of: welcome)
            let answer = try await app.redeem(done.code)
            #expect(answer.status == 200 && answer["auth"]["provider"] == "scripted", "\(answer.text)")
            #expect(answer["auth"]["providerUid"].string == evidence.providerUid)
        }
    }

    @Test func `hosted is listed where the application has pages, and only signs in`() async throws {
        try await with { server, app in
            let api = APIClient(server)
            let listed = try await api.get("/auth/providers")["providers"].array ?? []
            #expect(
                listed.contains(["name": "hosted", "kind": "hosted", "displayName": "demo", "flow": "redirect"]),
                "\(listed)")
            let person = try await api.register(at: server)
            expectError(try await app.authorize(bearer: person.accessToken), 404, "UNSUPPORTED_PROVIDER")
            let link = try await api.post(
                "/auth/identities/hosted/authorize", ["redirect_uri": .string(Self.web)], bearer: person.accessToken)
            expectError(link, 404, "UNSUPPORTED_PROVIDER")
        }
        try await TestServer.with { server in
            let listed = try await APIClient(server).get("/auth/providers")["providers"].array ?? []
            #expect(!listed.contains { $0["name"] == "hosted" })
            var app = RedirectClient(api: APIClient(server))
            app.provider = "hosted"
            expectError(try await app.authorize(), 404, "UNSUPPORTED_PROVIDER")
        }
    }
}
