import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Codes of devices that are guessed, sent to others, or presented in the wrong place.
struct DeviceAttackTests {
    /// A code of the right form that no device shows.
    private static let unknown = "BBBB-BBBB"

    @Test func `every code that no device waits with is wrong in the same way`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let (answered, refused, late) = (
                try await Device(server), try await Device(server), try await Device(server)
            )
            try await browser.allow(answered, as: ada)
            _ = try await browser.submit("deny", of: browser.confirm(refused, as: ada))
            try await server.age("handoffs", "expires_at", by: "10 minutes", where: "state = 'waiting'")
            let codes = [
                Self.unknown, answered.userCode, refused.userCode, late.userCode, "x", late.deviceCode,
            ]
            for code in codes {
                let view = try await browser.enter(code)
                #expect(view.status == 400 && view.step == "device" && view.problem == "INVALID_CREDENTIALS", "\(code)")
                #expect(view.text.contains("aria-describedby=\"problem\""))
            }
            let page = try await browser.open("/device")
            let empty = try await browser.submit("continue", ["user_code": ""], of: page)
            #expect(empty.status == 400 && empty.problem == "MISSING_PARAMETER")
        }
    }

    @Test func `five wrong codes end a request`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let device = try await Device(server)
            var browser = PageBrowser(server)
            var page = try await browser.open("/device")
            for number in 1...5 {
                page = try await browser.submit("continue", ["user_code": Self.unknown], of: page)
                #expect(page.status == 400 && page.problem == (number < 5 ? "INVALID_CREDENTIALS" : nil), "\(number)")
            }
            #expect(page.fault == "request_over" && page.text.contains("href=\"http://127.0.0.1:1/device\""))
            #expect(try await browser.enter(device.userCode).step == "signin", "the person may begin again")
        }
    }

    @Test func `codes that are typed at the same time are not more than five`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            var browser = PageBrowser(server)
            let page = try await browser.open("/device")
            let told = try await withThrowingTaskGroup(of: PageBrowser.View.self) { group in
                for _ in 0..<20 {
                    group.addTask { [browser] in
                        var tab = browser
                        return try await tab.submit("continue", ["user_code": Self.unknown], of: page)
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1.problem == nil ? 0 : 1 }
            }
            #expect(told <= 4, "the fifth ends the request")
            // Codes that were not told to be wrong do not count.
            for _ in told..<5 {
                _ = try await browser.submit("continue", ["user_code": Self.unknown], of: page)
            }
            #expect(try await browser.open(page.path).fault == "request_over")
        }
    }

    @Test func `codes of devices, and requests for them, are limited by network`() async throws {
        try await TestServer.with(
            application: Device.configuration, rateLimits: "{ device: 2/h, userCode: 2/h, general: off }"
        ) { server in
            let device = try await Device(server)
            _ = try await Device(server)
            let limited = try await device.client.post("/oauth/device", [:])
            #expect(limited.isOAuthError(429, "temporarily_unavailable") && limited.retryAfter != nil)
            let unknown = try await Device.client("nobody", at: server).post("/oauth/device", [:])
            #expect(unknown.isOAuthError(429, "temporarily_unavailable"), "an unknown client counts, too")
            var browser = PageBrowser(server)
            for _ in 1...2 { #expect(try await browser.enter(Self.unknown).problem == "INVALID_CREDENTIALS") }
            var other = PageBrowser(server)
            for code in [Self.unknown, device.userCode] {
                let view = try await other.enter(code)
                #expect(view.status == 429 && view.problem == "RATE_LIMITED" && view.step == "device", "\(code)")
            }
        }
    }

    // MARK: - Who gets in

    @Test func `a code alone signs no one in`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let device = try await Device(server)
            var stranger = PageBrowser(server)
            let signIn = try await stranger.enter(device.userCode)
            #expect(signIn.step == "signin" && !signIn.text.contains(device.userCode))
            let csrf = signIn.forms.first?.fields["csrf"] ?? ""
            for action in ["allow", "deny", "continue"] {
                let form = ["csrf": csrf, "action": action, "user_code": device.userCode]
                #expect(try await stranger.send(.POST, signIn.path, form: form).step == "signin", "\(action)")
            }
            // Cancelling without a sign-in refuses nothing.
            #expect(try await stranger.open(signIn.link("cancel") ?? "").step == "done")
            #expect(try await device.poll().isOAuthError(400, "authorization_pending"))
            for name in ["code", "refresh_token", "device_code"] {
                let grants = [
                    "code": "authorization_code", "refresh_token": "refresh_token",
                    "device_code": "urn:ietf:params:oauth:grant-type:device_code",
                ]
                let form = ["grant_type": grants[name] ?? "", name: device.userCode, "redirect_uri": "x"]
                let answer = try await device.client.post("/oauth/token", form)
                #expect(answer.status == 400 && answer["access_token"] == .null, "\(name): \(answer.text)")
            }
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'client'") == 0)
            // The page of somebody else's request is nothing in another browser.
            var victim = PageBrowser(server)
            _ = try await victim.signIn(ada, at: victim.begin(RelyingParty(server)))
            #expect(try await victim.open(signIn.path).fault == "not_your_request")
        }
    }

    @Test func `a device is allowed by its page's own form only`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let device = try await Device(server)
            var browser = PageBrowser(server)
            let page = try await browser.confirm(device, as: ada)
            let form = try #require(page.forms.first).fields.merging(["action": "allow"]) { $1 }
            #expect(try await browser.open("\(page.path)?\(RelyingParty.encoded(form))").step == "device-confirm")
            for header in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")] {
                var foreign = browser
                foreign.headers = [header.0: header.1]
                #expect(try await foreign.send(.POST, page.path, form: form).fault == "csrf", "\(header)")
            }
            #expect(try await browser.send(.POST, page.path, form: form.filter { $0.key != "csrf" }).fault == "csrf")
            #expect(try await device.poll().isOAuthError(400, "authorization_pending"))

            // The code has expired meanwhile; the form that showed it allows no other device.
            try await server.age("handoffs", "expires_at", by: "10 minutes")
            let late = try await browser.submit("allow", of: page)
            #expect(
                late.status == 400 && late.step == "device" && late.problem == "INVALID_CREDENTIALS", "\(late.text)")
            let other = try await Device(server)
            let next = try await browser.submit("continue", ["user_code": other.userCode], of: late)
            #expect(next.step == "device-confirm" && next.path == page.path)
            #expect(try await browser.submit("allow", of: page).step == "device-confirm", "the page is shown again")
            #expect(try await other.poll().isOAuthError(400, "authorization_pending"))
            #expect(try await browser.submit("allow", of: next).step == "done")
            #expect(try await other.pollInTime().status == 200)
        }
    }

    @Test func `a person who has seen the device refuses it by leaving`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let device = try await Device(server)
            var browser = PageBrowser(server)
            let page = try await browser.confirm(device, as: ada)
            #expect(try await browser.open(page.link("cancel") ?? "").step == "done")
            #expect(try await device.poll().isOAuthError(400, "access_denied"))
            #expect(try await browser.open(page.path).fault == "request_over")
        }
    }

    @Test func `a guest is asked to sign in, unless the client takes guests`() async throws {
        for (takesGuests, step) in [(false, "signin"), (true, "device-confirm")] {
            let configuration =
                takesGuests
                ? Device.configuration.replacing(
                    "name: { en: Photos TV", with: "guests: true\n      name: { en: Photos TV")
                : Device.configuration
            try await TestServer.with(application: configuration) { server in
                let guest = try await APIClient(server).guest()
                let device = try await Device(server)
                var visitor = try await LinkingBrowser(of: guest, at: server)
                #expect(try await visitor.browser.enter(device.userCode).step == step)
            }
        }
    }

    @Test func `a third party gets what the person allows, until it is taken back`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let refused = try await Device(server, client: "radio", ["scope": "openid email"])
            let page = try await browser.confirm(refused, as: ada)
            #expect(page.text.contains("Radio") && page.text.contains("does not belong to"))
            _ = try await browser.submit("deny", of: page)
            #expect(try await server.count("SELECT count(*) FROM consents") == 0)
            let device = try await Device(server, client: "radio", ["scope": "openid email offline_access"])
            try await browser.allow(device, as: ada)
            #expect(
                try await server.text("SELECT client_id || scopes::text FROM consents")
                    == "radio{email,offline_access,openid}")
            let tokens = try await device.pollInTime()
            #expect(tokens.status == 200, "\(tokens.text)")
            // It is asked again each time, also for what was allowed before.
            let again = try await Device(server, client: "radio", ["scope": "openid"])
            try await browser.allow(again, as: ada)
            let grants = try await APIClient(server).get("/auth/grants", bearer: ada.accessToken)["grants"].array ?? []
            #expect(grants.count == 1 && grants[0]["clientId"] == "radio" && grants[0]["name"] == "Radio")
            let revoked = try await APIClient(server).delete("/auth/grants/radio", bearer: ada.accessToken)
            #expect(revoked.status == 204)
            #expect(try await again.pollInTime().isOAuthError(400, "invalid_grant"))
            let late = try await device.client.refresh(tokens["refresh_token"].string ?? "")
            #expect(late.isOAuthError(400, "invalid_grant"))
        }
    }

    @Test func `a session that was borrowed lends itself no further`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            for isBorrowed in [false, true] {
                let device = try await Device(server)
                try await browser.allow(device, as: ada)
                try await server.execute(
                    "UPDATE sessions SET is_borrowed = $1 WHERE kind = 'browser'", [.bool(isBorrowed)])
                #expect(try await device.pollInTime().status == 200)
                let count = try await server.count(
                    "SELECT count(*) FROM sessions WHERE client_id = 'tv' AND is_borrowed = $1", [.bool(isBorrowed)])
                #expect(count == 1, "\(isBorrowed)")
            }
        }
    }

    // MARK: - Mix-ups

    private static let twin = """
          twin:
            hosts: [twin.example]
            audience: twin
            tokens: { algorithm: ES256 }
            providers: { email: { enabled: true, verificationLink: "https://twin.example/verify" } }
            \(Device.configuration.replacing("\n", with: "\n    "))
        """

    @Test func `codes of devices are nothing to other clients and applications`() async throws {
        try await TestServer.with(application: Device.configuration, others: Self.twin) { server in
            let ada = try await APIClient(server).register(at: server)
            let device = try await Device(server)
            let elsewhere = try await Device(server, application: "twin")
            #expect(elsewhere.answer["verification_uri"] == "http://127.0.0.1:1/apps/twin/device")
            var browser = PageBrowser(server)
            #expect(try await browser.enter(elsewhere.userCode).problem == "INVALID_CREDENTIALS")
            try await browser.allow(device, as: ada)
            let form = [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": device.deviceCode,
            ]
            let others = [
                Device.client("radio", at: server), Device.client("tv", at: server, application: "twin"),
                Device.client("radio", at: server, application: "twin"),
            ]
            for other in others {
                #expect(try await other.post("/oauth/token", form).isOAuthError(400, "invalid_grant"))
            }
            let web = try await RelyingParty(server).post("/oauth/token", form)
            #expect(web.isOAuthError(400, "unauthorized_client"))
            var impostor = Device.client("radio", at: server)
            impostor.secret = "not the secret of this client, but as long"
            #expect(try await impostor.post("/oauth/token", form).isOAuthError(401, "invalid_client"))
            let inURL = try await device.client.api.send(
                .POST, "/oauth/token?device_code=\(device.deviceCode)", raw: Array("client_id=tv".utf8),
                headers: ["content-type": "application/x-www-form-urlencoded"])
            #expect(inURL.isOAuthError(400, "invalid_request"))
            // None of them has polled for the device, or used its code up.
            #expect(try await device.poll().status == 200)
        }
    }

    @Test func `a code of another of the application's issuers is nothing`() async throws {
        try await TestServer.with(application: Device.configuration + "\n  paths: [blitz]") { server in
            let ada = try await APIClient(server).register(at: server)
            let (plain, blitz) = (try await Device(server), try await Device(server, isOfBlitz: true))
            #expect(blitz.answer["verification_uri"] == "http://127.0.0.1:1/device", "the page is the same")
            var browser = PageBrowser(server)
            for device in [plain, blitz] { try await browser.allow(device, as: ada) }
            #expect(try await plain.poll(at: "/blitz/oauth/te").isOAuthError(400, "invalid_grant"))
            #expect(try await blitz.poll(at: "/oauth/token").isOAuthError(400, "invalid_grant"))
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'client'") == 0)
            // Neither has polled for the other.
            for (device, issuer) in [(plain, "http://127.0.0.1:1"), (blitz, "http://127.0.0.1:1/blitz")] {
                let tokens = try await device.poll()
                #expect(tokens.status == 200, "\(tokens.text)")
                #expect(try DecodedToken(tokens["access_token"].string ?? "").claims["iss"].string == issuer)
            }
        }
    }
}
