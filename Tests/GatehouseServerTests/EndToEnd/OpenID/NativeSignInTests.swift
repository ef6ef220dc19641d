import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Browsers that an app signs its account in at (`css`), and what such a borrowed session is good for.
struct NativeSignInTests {
    /// A browser that an app shows, which has the app's secret as a cookie.
    private func browser(_ app: RelyingParty, _ server: TestServer) async throws -> PageBrowser {
        var browser = PageBrowser(server)
        browser.cookies["css"] = try await app.nativeSecret()
        return browser
    }

    private func app(_ server: TestServer, of person: Person) async throws -> RelyingParty {
        let (app, _) = try await RelyingParty(server).install()
        _ = try await app.bind(to: person)
        return app
    }

    @Test func `a browser is signed in without a page, once`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let web = RelyingParty(server)
            let ada = try await web.api.register(at: server)
            let app = try await app(server, of: ada)
            try await server.age("sessions", "authenticated_at", by: "10 minutes", where: "kind = 'client'")
            var browser = try await browser(app, server)
            let secret = try #require(browser.cookies["css"])
            let done = try await browser.begin(web)
            let tokens = try await web.redeem(try #require(done.code, "\(done.text)"))
            let claims = try DecodedToken(tokens["id_token"].string ?? "").claims
            #expect(claims["sub"].string == ada.uid && claims["amr"].array?.last == "native", "\(claims)")
            let age = Int64(Date().timeIntervalSince1970) - (claims["auth_time"].integer ?? 0)
            #expect(age >= 600, "the time is that of the app's sign-in")
            let cleared = done.answer.headers["set-cookie"].filter { $0.hasPrefix("css=;") && $0.contains("Max-Age=0") }
            #expect(cleared.contains { $0.contains("Path=/;") } && cleared.contains { $0.contains("Path=/blitz;") })
            #expect(try await browser.begin(web).code != nil, "it stays signed in")
            for used in [secret, "unknown", String(repeating: "A", count: 43)] {
                var other = PageBrowser(server)
                other.cookies["css"] = used
                #expect(try await other.begin(web).step == "signin" && other.cookies["css"] == nil)
            }
            var earlier = try await self.browser(app, server)
            var late = try await self.browser(app, server)
            #expect(try await earlier.begin(web).code != nil, "the app has another secret since, and both work")
            try await server.age("proofs", "expires_at", by: "301 seconds")
            #expect(try await late.begin(web).step == "signin")
            #expect(try await server.count("SELECT count(*) FROM audit_events WHERE event = 'native.used'") == 2)
        }
    }

    @Test func `the account pages take the secret, too`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = try await browser(app(server, of: ada), server)
            let page = try await browser.open("/account")
            #expect(page.step == "account" && page.text.contains(ada.email), "\(page.text)")
            #expect(try await browser.open("/account/sessions").status == 200)
        }
    }

    @Test func `the browser's session ends with the app's, and its clients with it`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let web = RelyingParty(server)
            let ada = try await web.api.register(at: server)
            let ends: [@Sendable (RelyingParty) async throws -> Void] = [
                { app in
                    let token = try await app.credentials("openid")["access_token"].string ?? ""
                    _ = try await app.post("/oauth/revoke", ["token": token])
                },
                { app in _ = try await app.api.delete("/auth/grants/\(app.client)", bearer: ada.accessToken) },
                { app in
                    let token = try await app.credentials("openid")["access_token"].string ?? ""
                    let sid = try DecodedToken(token).claims["sid"].string ?? ""
                    _ = try await app.api.delete("/auth/sessions/\(sid)", bearer: ada.accessToken)
                },
            ]
            for (number, end) in ends.enumerated() {
                let app = try await app(server, of: ada)
                var browser = try await browser(app, server)
                let tokens = try await web.redeem(browser.begin(web).code ?? "")
                #expect(tokens.status == 200, "\(tokens.text)")
                try await end(app)
                #expect(try await browser.begin(web).step == "signin", "\(number)")
                let access = tokens["access_token"].string ?? ""
                #expect(try await web.userInfo(access).isOAuthError(401, "invalid_token"), "\(number)")
            }
            let app = try await app(server, of: ada)
            var browser = try await browser(app, server)
            _ = try await browser.begin(web)
            let others = try await app.api.post("/auth/logout", ["scope": "others"], bearer: ada.accessToken)
            #expect(others.status == 204)
            #expect(try await browser.begin(web).step == "signin")
        }
    }

    @Test func `somebody who is signed in already is asked, whatever the request names`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let web = RelyingParty(server)
            let (ada, eve) = (try await web.api.register(at: server), try await web.api.register(at: server))
            let app = try await app(server, of: eve)
            let hint = try await web.redeem(web.code(cookie: web.browser(of: eve)))["id_token"].string ?? ""
            for parameters in [[:], ["login_hint": eve.email], ["id_token_hint": hint]] {
                var browser = PageBrowser(server)
                let code = try #require(try await browser.signIn(ada, at: browser.begin(web)).code)
                #expect(try await web.redeem(code).status == 200)
                browser.cookies["css"] = try await app.nativeSecret()
                let page = try await browser.begin(web, parameters)
                #expect(page.step == "accounts" && page.text.contains(ada.email), "\(parameters): \(page.text)")
                let silent = try await browser.begin(web, ["prompt": "none"])
                let subject = try DecodedToken(try await web.redeem(silent.code ?? "")["id_token"].string ?? "")
                #expect(subject.claims["sub"].string == ada.uid)
                browser.cookies["css"] = try await app.nativeSecret()
                #expect(try await browser.open("/account").step == "accounts")
            }
        }
    }

    @Test func `of twenty browsers with the same secret, one is signed in`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let web = RelyingParty(server)
            let app = try await app(server, of: web.api.register(at: server))
            let first = try await browser(app, server)
            let codes = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        var browser = first
                        return try await browser.begin(web).code
                    }
                }
                return try await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(codes.compactMap { $0 }.count == 1)
        }
    }

    @Test func `a secret that is used while the app's session ends opens nothing that stays`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let web = RelyingParty(server)
            let ada = try await web.api.register(at: server)
            let ends: [@Sendable (RelyingParty, APIClient.Answer) async throws -> Int] = [
                { app, _ in
                    let token = try await app.credentials("openid")["access_token"].string ?? ""
                    return try await app.post("/oauth/revoke", ["token": token]).status
                },
                { app, registration in try await app.manage(.DELETE, registration).status },
            ]
            for (number, end) in ends.enumerated() {
                for _ in 0..<20 {
                    let (app, registration) = try await web.install()
                    _ = try await app.bind(to: ada)
                    let asked = try await browser(app, server)
                    async let ended = end(app, registration)
                    async let opened = openAccount(in: asked)
                    var after = try await opened
                    #expect(try await (200..<300).contains(ended), "\(number)")
                    #expect(try await after.begin(web).step == "signin", "\(number)")
                    #expect(try await server.count(Self.lent) == 0, "\(number)")
                }
            }
        }
    }

    private func openAccount(in browser: PageBrowser) async throws -> PageBrowser {
        var browser = browser
        _ = try await browser.open("/account")
        return browser
    }

    private static let lent: StaticString =
        "SELECT count(*) FROM sessions WHERE kind = 'browser' AND is_borrowed AND ended_at IS NULL"

    @Test func `a removal of the app waits for a secret that is being used, and ends what it opens`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let web = RelyingParty(server)
            let (ada, ben) = (try await web.api.register(at: server), try await web.api.register(at: server))
            let (app, registration) = try await web.install()
            _ = try await app.bind(to: ada)
            var asked = try await browser(app, server)
            asked.cookies["gatehouse-sso-demo"] = String(try await web.browser(of: ben).dropFirst(19))
            // The use of the secret moves the browser's other session to the new cookie, and waits for it.
            let (opened, removed) = try await server.backend.database.transaction { [asked] transaction in
                _ = try await transaction.execute(Self.lockSession, .uuid(UUID(uuidString: ben.uid)))
                let opened = Task { try await openAccount(in: asked) }
                try await server.awaitBlocked(1)
                let removed = Task { try await app.manage(.DELETE, registration) }
                try await server.awaitBlocked(2)
                return (opened, removed)
            }
            var after = try await opened.value
            #expect(try await removed.value.status == 204)
            #expect(try await server.count("SELECT count(*) FROM audit_events WHERE event = 'native.used'") == 1)
            let page = try await after.open("/account")
            #expect(page.step == "account" && page.text.contains(ben.email), "\(page.text)")
            #expect(try await server.count(Self.lent) == 0)
        }
    }

    private static let lockSession = Statement(
        .write, "SELECT FROM sessions WHERE application_id = 1 AND uid = $1 AND kind = 'browser' FOR UPDATE")

    // MARK: - Borrowed sessions

    @Test func `a borrowed session is never recent, until something is proven in it`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let web = RelyingParty(server)
            let ada = try await web.api.register(at: server)
            let app = try await app(server, of: ada)
            var browser = try await browser(app, server)
            let code = try await browser.begin(web, ["scope": "openid account"]).code ?? ""
            let access = try await web.redeem(code)["access_token"].string ?? ""
            #expect(try await web.api.get("/auth/me", bearer: access).status == 200)
            expectError(try await web.api.get("/auth/account/export", bearer: access), 403, "TOKEN_TOO_OLD")
            expectError(try await web.api.delete("/auth/account", bearer: access), 403, "TOKEN_TOO_OLD")
            expectError(try await web.api.post("/auth/native", bearer: access), 403, "TOKEN_TOO_OLD")
            let page = try await browser.open("/account/data")
            let asked = try await browser.submit("export", of: page)
            #expect(asked.step == "reauthenticate", "\(asked.text)")
            let proven = try await browser.submit("password", ["password": ada.password], of: asked)
            #expect(proven.step == "account-data", "\(proven.text)")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE is_borrowed") == 0)
            let renewed = try await browser.begin(web, ["scope": "openid account"]).code ?? ""
            let fresh = try await web.redeem(renewed)["access_token"].string ?? ""
            #expect(try DecodedToken(fresh).claims["amr"] == ["pwd"])
            #expect(try await web.api.get("/auth/account/export", bearer: fresh).status == 200)
            #expect(try await web.api.post("/auth/native", bearer: fresh).status == 200)
        }
    }

    @Test func `a code that a phone confirms does not make the session of an app recent`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let web = RelyingParty(server)
            let ada = try await web.api.register(at: server)
            var browser = try await browser(app(server, of: ada), server)
            #expect(try await browser.begin(web).code != nil)
            try await server.age("sessions", "authenticated_at", by: "10 minutes", where: "kind = 'browser'")
            let accounts = try await browser.begin(web, ["prompt": "select_account"])
            let page = try await browser.submit("qr", of: browser.submit("other", of: accounts))
            try await QRPhone(of: ada, at: server).allow(page, in: &browser)
            #expect(try await browser.submit("finish", of: browser.open(page.path)).code != nil)
            let silent = try await browser.begin(web, ["max_age": "60", "prompt": "none"])
            #expect(silent.returnedError == "login_required", "\(silent.text)")
        }
    }

    @Test func `what is bound from a borrowed session stays borrowed, and lends nothing`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let web = RelyingParty(server)
            let ada = try await web.api.register(at: server)
            var browser = try await browser(app(server, of: ada), server)
            let (second, _) = try await web.install()
            let scope = ["scope": "openid native qr offline_access"]
            let tokens = try await second.redeem(browser.begin(second, scope).code ?? "")
            #expect(tokens["scope"] == "openid offline_access" && tokens["css"].isNull, "\(tokens.text)")
            for scope in ["native", "qr", "native qr"] {
                #expect(try await second.credentials(scope).isOAuthError(400, "invalid_scope"), "\(scope)")
            }
            let refresh = tokens["refresh_token"].string ?? ""
            #expect(try await second.refresh(refresh, ["scope": "native"]).isOAuthError(400, "invalid_scope"))
            #expect(try await second.refresh(refresh).status == 200, "it was not used up")
            let fewer = try await second.refresh(refresh, ["scope": "openid native"])
            #expect(fewer["scope"] == "openid", "\(fewer.text)")
            let proven = try await browser.submit(
                "password", ["password": ada.password], of: browser.begin(second, ["prompt": "login"]))
            #expect(try await second.redeem(proven.code ?? "").status == 200)
            #expect(try await second.credentials("native")["css"].string != nil)
        }
    }

    @Test func `of the secrets that an app asks for, also at once, the last ten are left`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let api = APIClient(server)
            let ada = try await api.register(at: server)
            let first = try await api.post("/auth/native", bearer: ada.accessToken)["css"].string
            for _ in 0..<8 { _ = try await api.post("/auth/native", bearer: ada.accessToken) }
            let (one, two) = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.lockAppSession, .uuid(UUID(uuidString: ada.uid)))
                let one = Task { try await api.post("/auth/native", bearer: ada.accessToken) }
                try await server.awaitBlocked(1)
                let two = Task { try await api.post("/auth/native", bearer: ada.accessToken) }
                try await server.awaitBlocked(2)
                return (one, two)
            }
            for answer in try await [one.value, two.value] { #expect(answer.status == 200, "\(answer.text)") }
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind = 'css'") == 10)
            var browser = PageBrowser(server)
            browser.cookies["css"] = first
            #expect(try await browser.begin(RelyingParty(server)).step == "signin", "the oldest one is gone")
        }
    }

    private static let lockAppSession = Statement(
        .write, "SELECT id FROM sessions WHERE application_id = 1 AND uid = $1 AND kind = 'api' FOR UPDATE")

    @Test func `apps of the REST interface get a secret, guests do not`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let web = RelyingParty(server)
            let ada = try await web.api.register(at: server)
            let answer = try await web.api.post("/auth/native", bearer: ada.accessToken)
            #expect(answer.status == 200 && answer["expiresIn"] == 300, "\(answer.text)")
            var browser = PageBrowser(server)
            browser.cookies["css"] = answer["css"].string
            #expect(try await browser.begin(web).code != nil)
            #expect(try await web.api.post("/auth/logout", bearer: ada.accessToken).status == 204)
            #expect(try await browser.begin(web).step == "signin", "it ends with the app's session")
            expectError(try await web.api.post("/auth/native", bearer: ada.accessToken), 401, "INVALID_TOKEN")
            expectError(
                try await web.api.post("/auth/native", bearer: web.api.guest().accessToken), 403, "TOKEN_TOO_OLD")
        }
    }
}
