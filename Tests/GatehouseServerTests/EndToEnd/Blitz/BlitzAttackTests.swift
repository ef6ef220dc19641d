import Accounts
import Foundation
import Logging
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Attacks that apps for Blitz invite: custom schemes, tokens in every copy of an app, cookies that apps set.
struct BlitzAttackTests {
    private func with(
        rateLimits: String = "off", logger: Logger = TestServer.silence,
        _ body: @Sendable @escaping (BlitzApp, Person) async throws -> Void
    ) async throws {
        try await TestServer.with(
            application: BlitzApp.configuration(), rateLimits: rateLimits, logger: logger
        ) { server in
            try await body(BlitzApp(server), APIClient(server).register(at: server))
        }
    }

    @Test func `an app with the same custom scheme can use no code, and gets none in silence`() async throws {
        try await with { app, person in
            let (victim, _, browser) = try await app.signIn(person)
            let thief = try await app.register()
            var phone = browser
            for prompt in [nil, "none"] {
                let asked = try await phone.open(app.login(thief, prompt.map { ["prompt": $0] } ?? [:]).url)
                #expect(asked.code == nil, "\(asked.target ?? "")")
                #expect(prompt == nil ? asked.step == "confirm" : asked.returnedError == "interaction_required")
            }
            let request = app.login(victim)
            let page = try await phone.open(request.url)
            let ended = try await phone.submit("continue", of: page)
            let code = try request.code(in: ended.target ?? "")
            for pair in [thief, victim] {
                let answer = try await app.redemption(of: code, request, by: pair)
                let refusal = try answer.decoded(BlitzApp.Refusal.self, status: 400)
                #expect(refusal.error == "invalid_grant", "the first use has used the code up")
            }
        }
    }

    @Test func `the token in every copy of the app registers, and nothing else`() async throws {
        try await with(rateLimits: "{ clientRegistration: 3/h }") { app, person in
            let sessions = try await app.server.liveSessions(of: person.uid)
            let instance = try await app.register()
            let answer = try await app.relogin(instance, scope: "profile")
            #expect(try answer.decoded(BlitzApp.Refusal.self, status: 400).error == "unauthorized_client")
            for bearer in [BlitzApp.initialAccessToken, BlitzApp.softwareStatement] {
                #expect(try await app.userData(bearer).status == 401)
                #expect(try await app.api.get("/auth/me", bearer: bearer).status == 401)
            }
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(try await app.registration().status) }
            #expect(statuses.last == 429, "\(statuses)")
            #expect(try await app.server.liveSessions(of: person.uid) == sessions)
        }
    }

    @Test func `the pair of a copied phone proves nothing again, and the person withdraws it`() async throws {
        try await with { app, person in
            let (instance, tokens, _) = try await app.signIn(person)
            try await app.server.letPass(.seconds(3600))
            let copied = try await app.relogin(instance, scope: "account").decoded(BlitzApp.ReloginTokens.self)
            let deletion = try await app.api.delete("/auth/account", bearer: copied.accessToken)
            expectError(deletion, 403, "TOKEN_TOO_OLD")

            let grants = try await app.api.get("/auth/grants", bearer: person.accessToken)
            let grant = try #require(
                grants["grants"].array?.first { $0["clientId"].string == instance.clientId }, "\(grants.text)")
            #expect(grant["kind"] == "instance" && grant["name"] == "Company", "\(grant)")
            #expect(grant["lastAddress"] == "127.0.0.1" && grant["lastUsedAt"].string != nil, "\(grant)")
            let withdrawn = try await app.api.delete("/auth/grants/\(instance.clientId)", bearer: person.accessToken)
            #expect(withdrawn.status == 204, "\(withdrawn.text)")
            #expect(try await app.relogin(instance, scope: "profile").status == 401)
            try await app.expectRefusal(of: [tokens.accessToken])
            expectError(try await app.api.get("/auth/me", bearer: copied.accessToken), 401, "INVALID_TOKEN")
        }
    }

    @Test func `a planted cookie never changes the account in silence, works once, and not late`() async throws {
        try await with { app, victim in
            let attacker = try await app.api.register(at: app.server)
            let instance = try await app.signIn(attacker).instance
            var party = RelyingParty(app.server)
            party.endpoints = .blitz

            var browser = PageBrowser(app.server)
            let page = try await browser.begin(party)
            #expect(try await browser.signIn(victim, at: page).code != nil)
            let css = try await app.native(instance).css
            browser.cookies["css"] = css
            let asked = try await browser.begin(party)
            #expect(asked.step == "accounts" && asked.code == nil, "\(asked.status) \(asked.text)")
            #expect(browser.cookies["css"] == nil, "the cookie is cleared")

            let late = try await app.native(instance).css
            try await app.server.age("proofs", "expires_at", by: "6 minutes")
            for used in [css, late, "x"] {
                var other = PageBrowser(app.server)
                other.cookies["css"] = used
                #expect(try await other.begin(party).step == "signin")
                #expect(other.cookies["css"] == nil)
            }
        }
    }

    @Test func `no line of the log has a pair, a code or a cookie`() async throws {
        let output = CollectedOutput()
        let logger = Logger(label: "test") { LineLogHandler(.json, label: $0, level: .trace, output: output) }
        let secrets: [String] = try await TestServer.with(application: BlitzApp.configuration(), logger: logger) {
            server in
            let app = BlitzApp(server)
            let person = try await app.api.register(at: server)
            let (instance, tokens, _) = try await app.signIn(person, ["access_type": "offline"])
            let request = app.login(instance)
            _ = try await app.redemption(of: "not-a-code-of-anybody", request, by: instance)
            let css = try await app.native(instance).css
            var desktop = PageBrowser(server)
            let code = try await desktop.showQRCode(of: RelyingParty(server)).code
            let token = try await app.scanningToken(instance)
            _ = try await app.look(at: code, token)
            _ = try await app.answer(code, .confirm, token)
            _ = try await app.delete(instance)
            return [
                instance.clientSecret, instance.registrationAccessToken, tokens.accessToken, tokens.idToken,
                tokens.refreshToken ?? "-", css, code, token, request.state, request.verifier,
                BlitzApp.initialAccessToken, "not-a-code-of-anybody",
            ]
        }
        let lines = output.lines
        #expect(lines.contains { $0.contains("/blitz/api/v3/auth/qr/{code}") }, "routes are logged")
        for secret in secrets { #expect(!lines.contains { $0.contains(secret) }, "\(secret)") }
    }
}
