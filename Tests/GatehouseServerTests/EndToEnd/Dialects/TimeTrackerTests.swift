import Foundation
import NIOHTTP1
import ProviderKit
import Testing

/// The dialect of the time tracking app, by the app's own requests.
struct TimeTrackerTests {
    private static let missing = "Missing required parameters: code, state"
    private static let expired = "OIDC session not found or expired. Initiate login again."

    private func with(
        _ settings: String = "session: access", rateLimits: String = "off",
        _ body: @Sendable @escaping (TestServer, TimeTrackerApp) async throws -> Void
    ) async throws {
        try await TestServer.with(
            application: TimeTrackerApp.configuration(settings),
            providers: "scripted: { expose: [preferred_username] }", rateLimits: rateLimits
        ) { server in try await body(server, TimeTrackerApp(api: APIClient(server))) }
    }

    @Test func `the app signs in, restores its session and signs out`() async throws {
        try await with { server, app in
            var evidence = VerifiedIdentity.somebody("ada", email: "ada@example.com")
            evidence.profile = ["preferred_username": "ada1815"]
            let session = try await app.signIn(evidence)
            #expect(session.tokenType == "Bearer" && session.expiresIn == 3600)
            #expect(session.user.email == "ada@example.com" && session.user.username == "ada1815")
            #expect(session.user.fullName == nil)
            let me = try await app.me(session.accessToken)
            #expect(me.status == 200)
            #expect(
                me.text == """
                    {"id":"\(session.user.id)","username":"ada1815","fullName":null,"email":"ada@example.com"}
                    """)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE dialect = 'timetracker'") == 1)
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 0)
            // The token must not lose a second because one began after the session was opened.
            let longer: StaticString =
                "SELECT count(*) FROM sessions WHERE dialect = 'timetracker' AND expires_at = created_at + interval '3601 s'"
            #expect(try await server.count(longer) == 1)
            let out = try await app.logout(session.accessToken)
            #expect(out.status == 200 && out.text == #"{"message":"Logged out successfully"}"#)
            expectFailure(try await app.me(session.accessToken), 401, "Unauthorized")
            let again = try await app.logout(session.accessToken)
            #expect(again.status == 200 && again.text == out.text, "nothing is left to end")
        }
    }

    @Test func `an account without name and address has texts where the model requires them`() async throws {
        try await with { _, app in
            let user = try await app.signIn(.somebody()).user
            #expect(user.username == user.id && user.email.isEmpty && user.fullName == nil)
        }
    }

    @Test func `a session bearer lasts as long as configured`() async throws {
        try await with("session: { idle: 1d, lifetime: 30d }") { server, app in
            let session = try await app.signIn(.somebody("ada"))
            #expect(session.accessToken.hasPrefix("ghs_"))
            #expect((30 * 86_400 - 60...30 * 86_400).contains(session.expiresIn))
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE renewal = 'bearer'") == 1)
        }
    }

    @Test func `no refusal of the token call is 401`() async throws {
        try await with { server, app in
            let arrival = try await app.arrive(with: .somebody(), state: "kept")
            #expect(arrival.query("state") == "kept")
            for name in ["code", "state", "redirect_uri"] {
                expectFailure(
                    try await app.exchange(TimeTrackerApp.body(arrival, [name: .null])), 400, Self.missing, "\(name)")
            }
            for name in ["code", "state"] {
                expectFailure(
                    try await app.exchange(TimeTrackerApp.body(arrival, [name: ""])), 400, Self.missing, "\(name)")
            }
            let verified = TimeTrackerApp.body(arrival, ["code_verifier": "v"])
            expectFailure(try await app.exchange(verified), 400, Self.expired, "a verifier")
            #expect(try await app.exchange(arrival).status == 200, "none of these used the code up")
            for changes: [String: JSONValue] in [
                ["code": "nonsense"], ["state": "other"], ["redirect_uri": "demo://oauth/callback"],
            ] {
                let arrival = try await app.arrive(with: .somebody())
                expectFailure(
                    try await app.exchange(TimeTrackerApp.body(arrival, changes)), 400, Self.expired, "\(changes)")
            }
            let broken = try await app.api.send(.POST, "/auth/token", raw: Array("{".utf8))
            expectFailure(broken, 400, Self.missing)

            let disabled = VerifiedIdentity.somebody("bob")
            _ = try await app.signIn(disabled)
            try await server.execute("UPDATE accounts SET disabled_at = now()")
            let refused = try await app.exchange(app.arrive(with: disabled))
            #expect(refused.status == 403 && refused["error"].string?.isEmpty == false, "\(refused.text)")
        }
    }

    @Test func `a code that is presented again after three seconds ends its session`() async throws {
        try await with { server, app in
            let arrival = try await app.arrive(with: .somebody())
            let answer = try await app.exchange(arrival)
            let token = try #require(answer["access_token"].string)
            try await server.age("redirect_flows", "redeemed_at", by: "3 seconds")
            expectFailure(try await app.exchange(arrival), 400, Self.expired)
            expectFailure(try await app.me(token), 401, "Unauthorized")
        }
    }

    @Test func `errors of the login are pages, and an unregistered URI is never redirected to`() async throws {
        try await with { server, app in
            for query in [
                "", "?redirect_uri=timetracker://evil", "?redirect_uri=demo://oauth/callback",
                "?redirect_uri=\(TimeTrackerApp.redirectURI)&redirect_uri=\(TimeTrackerApp.redirectURI)",
            ] {
                let page = try await app.login(query)
                #expect(page.status == 400, "\(query)")
                #expect(page.headers.first(name: "content-type")?.hasPrefix("text/html") == true, "\(query)")
                #expect(page.headers.first(name: "location") == nil, "\(query)")
            }
            #expect(try await server.count("SELECT count(*) FROM redirect_flows") == 0)
            let back = try await app.api.send(.GET, "/auth/login?redirect_uri=\(TimeTrackerApp.redirectURI)")
            let state = try #require(try back.redirect.query("state"))
            let cookie = back.headers.first(name: "set-cookie")?.prefix { $0 != ";" }
            let denied = try await app.api.send(
                .GET, "/api/v1/auth/oauth/scripted/callback?error=access_denied&state=\(state)",
                headers: ["cookie": String(cookie ?? "")])
            #expect(try denied.redirect.query("error") == "access_denied")
        }
    }

    /// WebKit drops cookies with `Secure` that come without TLS, even on loopback.
    @Test func `a developer's browser gets a cookie without TLS, which is deleted in the form in which it was set`()
        async throws
    {
        try await TestServer.with(
            server: "development: true, trustedProxies: [127.0.0.1]", application: TimeTrackerApp.configuration(),
            providers: "scripted: {}"
        ) { server in
            let api = APIClient(server)
            let (plain, secure) = ("; HttpOnly; SameSite=Lax", "; Secure; HttpOnly; SameSite=None")
            let cases: [(fields: HTTPHeaders, attributes: String)] = [
                (["host": "localhost:3001"], plain), (["host": "127.0.0.1:3001"], plain), (["host": "[::1]"], plain),
                (["host": "localhost:3001", "x-forwarded-proto": "https"], secure),
                (["host": "timer.example"], secure),
            ]
            for (fields, attributes) in cases {
                for path in ["/auth/login?", "/api/v1/auth/oauth/scripted/authorize?"] {
                    let begun = try await api.send(
                        .GET, path + "redirect_uri=\(TimeTrackerApp.redirectURI)", headers: fields)
                    let set = try #require(begun.headers.first(name: "set-cookie"), "\(fields): \(begun.text)")
                    #expect(set.hasSuffix("; Max-Age=600" + attributes), "\(path) \(fields): \(set)")
                    let state = try #require(try begun.redirect.query("state"))
                    var answered = fields
                    answered.add(name: "cookie", value: String(set.prefix { $0 != ";" }))
                    let ended = try await api.send(
                        .GET, "/api/v1/auth/oauth/scripted/callback?error=access_denied&state=\(state)",
                        headers: answered)
                    let deleted = try #require(ended.headers.first(name: "set-cookie"), "\(ended.text)")
                    #expect(deleted.hasSuffix("; Max-Age=0" + attributes), "\(path) \(fields): \(deleted)")
                    #expect(deleted.prefix { $0 != "=" } == set.prefix { $0 != "=" })
                }
            }
        }
    }

    @Test(arguments: ["scripted", "hosted"])
    func `a browser that sends a token signs in all the same`(provider: String) async throws {
        let settings = TimeTrackerApp.configuration().replacing("provider: scripted", with: "provider: \(provider)")
        try await TestServer.with(application: settings + "\nopenid: {}", providers: "scripted: {}") { server in
            let app = TimeTrackerApp(api: APIClient(server))
            let live = try await app.api.register(at: server).accessToken
            for token in [live, live + "x", "ghs_" + String(repeating: "A", count: 43)] {
                let sent = try await app.api.send(
                    .GET, "/auth/login?redirect_uri=\(TimeTrackerApp.redirectURI)", bearer: token,
                    headers: ["accept": "text/html"])
                #expect(sent.status == 302, "\(sent.status) \(sent.text)")
            }
        }
    }

    @Test func `calls count toward the limits of version 1 of the API`() async throws {
        try await with(rateLimits: "{ general: 3/h }") { _, app in
            for _ in 1...2 { _ = try await app.exchange([:]) }
            _ = try await app.api.post("/auth/token")
            let refused = try await app.exchange([:])
            expectFailure(refused, 429, "Too many tries. Please wait a moment.")
            #expect(refused.retryAfter != nil)
            // Redirect flows have a limit of their own, which two calls in a second fill up again.
            var page = try await app.login()
            for _ in 1...2000 where page.status != 429 { page = try await app.login() }
            #expect(page.status == 429 && page.text.contains("<html"))
        }
    }

    @Test func `the provider hosted is the application's own pages`() async throws {
        try await TestServer.with(
            application: TimeTrackerApp.configuration().replacing("provider: scripted", with: "provider: hosted")
                + "\nopenid: {}"
        ) { server in
            let sent = try await TimeTrackerApp(api: APIClient(server)).login()
            let page = try sent.redirect
            #expect(sent.status == 302 && page.path == "/oauth/authorize" && page.query("request_uri") != nil)
        }
    }
}
