import Accounts
import Administration
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// How long sessions at the console last, what ends them, and when a new proof is asked for.
struct ConsoleSessionTests {
    private static let authorize = PageBrowser.issuer + "/oauth/authorize?"
    private static let rotation = "/console/demo/keys/rotate"
    private static let typed = ["reason.code": "operations", "reason.ticket": "T-9"]

    /// A person of the application, who is no administrator, and the path of the form that disables them.
    private func target(_ server: TestServer) async throws -> (person: Person, path: String) {
        let person = try await APIClient(server).register(at: server)
        return (person, "/console/demo/accounts/\(person.uid)/disable")
    }

    private func isDisabled(_ person: Person, _ server: TestServer) async throws -> Bool {
        let sql: StaticString = "SELECT count(*) FROM accounts WHERE uid = $1 AND disabled_at IS NOT NULL"
        return try await server.count(sql, [.uuid(UUID(uuidString: person.uid))]) == 1
    }

    private func keys(_ server: TestServer) async throws -> Int {
        try await server.count("SELECT count(*) FROM signing_keys")
    }

    /// Expects that the browser has no session, without signing in again.
    private func expectSignedOut(_ browser: ConsoleBrowser, _ about: Comment) async throws {
        let view = try await browser.open("/console/demo", following: false)
        #expect(view.status == 303 && view.location?.hasPrefix(Self.authorize) == true, about)
    }

    /// A thief's browser, with the cookie of the session alone.
    private func thief(of browser: ConsoleBrowser) -> ConsoleBrowser {
        let thief = ConsoleBrowser(of: browser.person, at: browser.server)
        thief.cookies["gatehouse-console"] = browser.session
        return thief
    }

    // MARK: - Idle sessions

    @Test func `an idle session asks for a proof, and a form that was sent comes back with what was typed`()
        async throws
    {
        try await ConsoleBrowser.with { server, browser in
            let (person, path) = try await target(server)
            let page = try await browser.open(path)
            try await server.age("console_sessions", "used_at", by: "31 minutes")
            let asked = try await page.submit(path, Self.typed)
            #expect(asked.status == 303 && asked.location?.contains("prompt=login") == true, "\(asked.text)")
            #expect(try await !isDisabled(person, server))
            let back = try await browser.prove(at: asked)
            #expect(back.status == 200 && back.path.hasPrefix(path), "\(back.status) \(back.path)")
            #expect(back.form(path)?["reason.code"] == "operations" && back.form(path)?["reason.ticket"] == "T-9")
            #expect(back.said != nil && back.alertCode == nil)
            #expect(try await browser.open(path + "?resume=1").form(path)?["reason.ticket"] == "", "it is used up")
            let done = try await back.submit(path)
            #expect(done.status == 303, "\(done.text)")
            #expect(try await done.follow().said != nil)
            #expect(try await isDisabled(person, server))
        }
    }

    @Test func `an idle session asks for a proof before it shows a page, and use keeps it from being idle`()
        async throws
    {
        try await ConsoleBrowser.with(admin: "idle: 10m") { server, browser in
            for _ in 0..<3 {
                try await server.age("console_sessions", "used_at", by: "9 minutes")
                #expect(try await browser.open("/console/demo", following: false).status == 200)
            }
            try await server.age("console_sessions", "used_at", by: "11 minutes")
            let asked = try await browser.open("/console/demo/messages", following: false)
            #expect(asked.location?.contains("prompt=login") == true, "\(asked.status)")
            #expect(try await thief(of: browser).open("/console/demo", following: false).status == 303)
            let back = try await browser.prove(at: asked)
            #expect(back.status == 200 && back.path == "/console/demo/messages")
        }
        try await ConsoleBrowser.with(admin: "idle: 20s") { server, browser in
            for _ in 0..<3 {
                try await server.age("console_sessions", "used_at", by: "12 seconds")
                #expect(try await browser.open("/console/demo", following: false).status == 200)
            }
        }
    }

    @Test func `what was typed waits for ten minutes, and only in its own session`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let path = Self.rotation
            try await server.letPass(.seconds(360))
            _ = try await browser.submit(path, Self.typed)
            let other = try await browser.secondBrowser()
            #expect(try await other.open(path + "?resume=1").form(path)?["reason.ticket"] == "")
            let waiting: StaticString = "SELECT count(*) FROM console_sessions WHERE typed IS NOT NULL"
            _ = try await browser.open("/console/demo/keys?resume=1")
            #expect(try await server.count(waiting) == 1, "it waits for its own page")
            try await server.age("console_sessions", "typed_until", by: "10 minutes")
            #expect(try await browser.open(path + "?resume=1").form(path)?["reason.ticket"] == "")
            #expect(try await server.count(waiting) == 0)
        }
    }

    @Test func `the server itself refuses a cookie whose time is over`() async throws {
        try await TestServer.with { server in
            let sessions = ConsoleSessions(
                store: server.backend.store, sealing: server.backend.sealer, opaque: server.backend.opaque)
            let (home, now) = (try await server.application(), Date())
            let cookie = try sessions.cookie(of: ["state": "x"], purpose: "flow", for: 1800, home: home, now: now)
            func value(after seconds: Double) -> JSONValue? {
                sessions.value(ofCookie: cookie, purpose: "flow", home: home, now: now.addingTimeInterval(seconds))
            }
            #expect(value(after: 1798) == ["state": "x"] && value(after: 1800) == nil)
            #expect(sessions.value(ofCookie: cookie, purpose: "said", home: home, now: now) == nil)
        }
    }

    // MARK: - Proofs

    @Test func `an act that matters most needs a fresh proof, and is done after it with what was typed`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let before = try await keys(server)
            try await server.letPass(.seconds(360))
            let (person, path) = try await target(server)
            let ordinary = try await browser.submit(path, Self.typed)
            #expect(ordinary.status == 303 && ordinary.location?.hasPrefix("/console/") == true)
            #expect(try await isDisabled(person, server), "this one needs none")
            let cookie = browser.session
            let asked = try await browser.submit(Self.rotation, Self.typed)
            #expect(asked.status == 303 && asked.location?.contains("prompt=login") == true, "\(asked.text)")
            #expect(try await keys(server) == before)
            let back = try await browser.prove(at: asked)
            #expect(back.form(Self.rotation)?["reason.ticket"] == "T-9" && back.said != nil, "\(back.text)")
            let done = try await back.submit(Self.rotation)
            #expect(done.status == 303, "\(done.text)")
            #expect(try await done.follow().said != nil)
            #expect(try await keys(server) > before)
            #expect(browser.session != cookie, "a copy of the cookie gains nothing by the proof")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE client_id = 'gatehouse-console'") == 1)
        }
    }

    @Test func `a proof that is given elsewhere does not count for a copy of the cookie`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let before = try await keys(server)
            try await server.age("console_sessions", "proven_at", by: "6 minutes")
            // The session of the console follows that of the browser.
            try await server.execute("UPDATE sessions SET authenticated_at = now()")
            let asked = try await browser.submit(Self.rotation, Self.typed)
            #expect(asked.status == 303 && asked.location?.contains("prompt=login") == true, "\(asked.text)")
            #expect(try await keys(server) == before)
            let done = try await browser.prove(at: asked).submit(Self.rotation)
            #expect(done.status == 303, "\(done.text)")
            #expect(try await keys(server) > before)
        }
    }

    @Test func `single sign-on into the console is no proof`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let before = try await keys(server)
            try await server.letPass(.seconds(360))
            browser.cookies["gatehouse-console"] = nil
            _ = try await browser.open("/console/demo")
            try #require(browser.session != nil)
            try await server.execute("UPDATE sessions SET authenticated_at = now()")
            let asked = try await browser.submit(Self.rotation, Self.typed)
            #expect(asked.status == 303 && asked.location?.contains("prompt=login") == true, "\(asked.text)")
            #expect(try await keys(server) == before)
        }
    }

    @Test func `a proof that was asked for cannot be left out of the address`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let before = try await keys(server)
            try await server.letPass(.seconds(360))
            let asked = try await browser.submit(Self.rotation, Self.typed)
            let address = try #require(asked.location).replacing("&prompt=login", with: "")
            let view = try await browser.open(address)
            #expect(view.status == 403 && view.title == "You are not signed in", "\(view.text)")
            let again = try await browser.open(Self.rotation, following: false)
            #expect(again.location?.contains("/oauth/authorize?") == true, "\(again.text)")
            #expect(try await keys(server) == before)
        }
    }

    @Test func `after a long pause, single sign-on does not suffice`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let page = try await browser.open("/console/demo")
            try await server.letPass(.seconds(2400))
            #expect(try await page.submit("sign-out").status == 200)
            let view = try await browser.open("/console")
            #expect(view.text.contains("value=\"password\""), "\(view.path) \(view.text)")
        }
    }

    @Test func `an identity that one grant knows is not let into the others`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let (client, token) = (APIClient(server), browser.person.accessToken)
            try #require(try await client.link(.somebody(), bearer: token).status < 300)
            try await server.grant(.auditor, to: browser.person, on: "demo")
            let second = try #require(UUID(uuidString: try await client.identityID(of: "scripted", bearer: token)))
            let session = ConsoleSession(
                hash: [], sessionID: UUID(), uid: try #require(UUID(uuidString: browser.person.uid)), identity: second,
                pseudonym: "", name: nil, proofAge: .zero, methods: [], provider: "scripted", createdAt: .now,
                expiresAt: .now, isIdle: false)
            let sessions = ConsoleSessions(
                store: server.backend.store, sealing: server.backend.sealer, opaque: server.backend.opaque)
            #expect(try await !sessions.admit(second, in: session, home: try await server.application()))
            let known: StaticString = "SELECT count(*) FROM admin_grants WHERE $1 = ANY (identities)"
            #expect(try await server.count(known, [.uuid(second)]) == 1, "that of the auditor alone")
        }
    }

    @Test func `another account's proof is refused, and leaves no session`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let (before, cookie) = (try await keys(server), browser.session)
            let eve = try await APIClient(server).register(at: server)
            try await server.grant(.owner, to: eve)
            try await server.letPass(.seconds(360))
            let asked = try await browser.submit(Self.rotation, Self.typed)
            let again = try await asked.follow()
            let form = try #require(again.forms.first { $0.html.contains("value=\"other\"") }, "\(again.text)")
            let pages = try await browser.post(again.path, form.filled(["action": "other"]))
            let refused = try await browser.prove(at: pages, as: eve)
            #expect(refused.status == 403 && refused.title == "That was another account", "\(refused.text)")
            #expect(try await keys(server) == before && browser.session == cookie)
            let sessions: StaticString = """
                SELECT count(*) FROM sessions WHERE uid = $1 AND client_id = 'gatehouse-console' AND ended_at IS NULL
                """
            #expect(try await server.count(sessions, [.uuid(UUID(uuidString: eve.uid))]) == 0)
            let stale = try await browser.submit(Self.rotation, Self.typed)
            #expect(stale.location?.contains("prompt=login") == true, "her proof does not count: \(stale.status)")
        }
    }

    // MARK: - Ends

    @Test func `signing out ends the session and its cookie, also when it is idle`() async throws {
        for isIdle in [false, true] {
            try await ConsoleBrowser.with { server, browser in
                let thief = thief(of: browser)
                let page = try await browser.open("/console/demo")
                if isIdle { try await server.age("console_sessions", "used_at", by: "31 minutes") }
                let out = try await page.submit("sign-out")
                #expect(out.status == 200 && out.title == "You are signed out", "\(out.status) \(out.text)")
                #expect(browser.session == nil)
                try await expectSignedOut(thief, "a copy of the cookie is dead too")
                let again = try await page.submit("sign-out")
                #expect(again.status == 200 && again.title == "You are signed out", "signing out twice")
                let live: StaticString = """
                    SELECT count(*) FROM sessions WHERE client_id = 'gatehouse-console' AND ended_at IS NULL
                    """
                #expect(try await server.count(live) == 0)
            }
        }
    }

    @Test func `a foreign form does not sign out`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let page = try await browser.open("/console/demo")
            let events = try await server.audited {
                let refused = try await page.submit("sign-out", headers: ["sec-fetch-site": "cross-site"])
                #expect(refused.status == 403 && refused.title == "This form is not from this session")
            }
            #expect(events.map(\.event) == ["admin.refused"])
            #expect(try await browser.open("/console/demo", following: false).status == 200)
        }
    }

    enum End: String, CaseIterable { case logoutOfAll, revokedByItself, disabled, deleted, passwordReset }

    @Test(arguments: End.allCases)
    func `what ends a person's sessions ends that at the console, at every replica`(end: End) async throws {
        try await ConsoleBrowser.with(role: .support, on: "demo") { server, browser in
            let (person, client) = (browser.person, APIClient(server))
            // Either of two servers might deliver the mail to its own inbox.
            let token = end == .passwordReset ? try await client.forget(at: server, person.email) : ""
            try await TestServer.withConsole(database: server.databaseURL) { second in
                let elsewhere = ConsoleBrowser(of: person, at: second)
                elsewhere.cookies["gatehouse-console"] = browser.session
                #expect(try await elsewhere.open("/console/demo", following: false).status == 200)
                let thief = thief(of: browser)
                switch end {
                case .logoutOfAll:
                    let answer = try await client.post(
                        "/auth/logout", ["scope": "global"], bearer: person.accessToken)
                    try #require(answer.status == 204)
                case .revokedByItself:
                    let listed = try await client.get("/auth/sessions", bearer: person.accessToken)
                    let own = try #require(
                        listed["sessions"].array?.first { $0["client"]["id"] == "gatehouse-console" }, "\(listed.text)")
                    let id = try #require(own["id"].string)
                    try #require(
                        try await client.delete("/auth/sessions/\(id)", bearer: person.accessToken).status == 204)
                case .disabled: try await server.setDisabled(true, person)
                case .deleted:
                    try #require(try await client.delete("/auth/account", bearer: person.accessToken).status < 300)
                case .passwordReset:
                    try #require(try await client.reset(token, to: APIClient.otherPassword).status < 300)
                }
                for browser in [browser, elsewhere, thief] { try await expectSignedOut(browser, "\(end)") }
            }
        }
    }

    @Test func `a stolen cookie stays dead when the person signs in again with it`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let thief = thief(of: browser)
            let answer = try await APIClient(server).post(
                "/auth/logout", ["scope": "global"], bearer: browser.person.accessToken)
            try #require(answer.status == 204)
            let view = try await browser.signIn(opening: "/console/demo")
            #expect(view.status == 200 && browser.session != thief.session)
            try await expectSignedOut(thief, "it is another session's")
        }
    }

    @Test func `a revoked or narrower role counts at once`() async throws {
        try await ConsoleBrowser.with(role: .support, on: "demo") { server, browser in
            let (person, path) = try await target(server)
            #expect(try await browser.open(path).form(path) != nil)
            try await server.grant(.auditor, to: browser.person, on: "demo")
            #expect(try await browser.open(path).status == 403)
            try await server.revoke(browser.person, on: "demo")
            let events = try await server.audited {
                let view = try await browser.open("/console/demo", following: false)
                #expect(view.status == 403 && view.title == "You have no role here", "\(view.text)")
            }
            #expect(events.map(\.event) == ["admin.refused"])
            #expect(try await !isDisabled(person, server))
        }
    }

    @Test func `a session ends after its lifetime, however much it is used and proven`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let twelve: StaticString = """
                SELECT count(*) FROM console_sessions WHERE expires_at = created_at + interval '12 hours'
                """
            #expect(try await server.count(twelve) == 1)
            try await server.letPass(.seconds(360))
            _ = try await browser.prove(at: browser.submit(Self.rotation, Self.typed))
            #expect(try await server.count(twelve) == 1, "a proof does not prolong it")
            try await server.age("console_sessions", "expires_at", by: "12 hours")
            try await expectSignedOut(browser, "after 12 hours")
        }
    }

    @Test func `the person sees the session among their own`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let listed = try await APIClient(server).get("/auth/sessions", bearer: browser.person.accessToken)
            let own = listed["sessions"].array?.filter { $0["client"]["id"] == "gatehouse-console" } ?? []
            #expect(own.count == 1 && own.first?["client"]["name"] == "Gatehouse console", "\(listed.text)")
            #expect(own.first?["kind"] == "client")
        }
    }

    @Test func `a session and a role end with the account, when it is merged into another`() async throws {
        try await ConsoleBrowser.with(role: .support, on: "demo") { server, browser in
            let client = APIClient(server)
            let survivor = try await client.newcomer()
            let code = try await client.challenge(
                "email", browser.person.email, at: server, bearer: survivor.accessToken)
            let refused = try await client.post("/auth/identities/email", .object(code), bearer: survivor.accessToken)
            let ticket = try #require(refused.json["error"]["details"]["mergeToken"].string, "\(refused.text)")
            let merged = try await client.merge(ticket, bearer: survivor.accessToken, survivor: "current")
            try #require(merged.status == 200, "\(merged.text)")
            try await expectSignedOut(browser, "the account is gone")
            let view = try await browser.signIn(opening: "/console/demo")
            #expect(view.status == 403, "its way to sign in is that of the survivor: \(view.status) \(view.text)")
        }
    }
}
