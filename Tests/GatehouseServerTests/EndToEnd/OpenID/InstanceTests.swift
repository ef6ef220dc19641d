import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Installations of apps: who owns them, what their secrets are good for, and when they end.
struct InstanceTests {
    // MARK: - Signing in

    @Test func `a redeemed code binds an installation, which then gets tokens of the account by its secret`()
        async throws
    {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let (app, _) = try await RelyingParty(server).install()
            #expect(try await app.credentials("profile").isOAuthError(400, "unauthorized_client"))
            let ada = try await app.api.register(at: server)
            let signedIn = try DecodedToken(try await app.bind(to: ada)["access_token"].string ?? "").claims
            try await server.age("sessions", "authenticated_at", by: "10 minutes", where: "kind = 'client'")
            let granted: [(String?, String)] = [
                ("profile", "openid profile"), ("openid", "openid"), ("email profile", "openid email profile"),
                (nil, "openid profile email account"), ("profile phone offline_access", "openid profile"),
                ("blitz_qr_auth", "blitz_qr_auth"), ("qr", "qr"),
            ]
            for (asked, granted) in granted {
                let answer = try await app.credentials(asked)
                #expect(answer.status == 200 && answer["scope"].string == granted, "\(asked ?? "-"): \(answer.text)")
                #expect(answer["id_token"].isNull && answer["refresh_token"].isNull && answer["css"].isNull)
                let claims = try DecodedToken(answer["access_token"].string ?? "").claims
                #expect(claims["sub"].string == ada.uid && claims["sid"] == signedIn["sid"])
                let times = [signedIn, claims].compactMap { $0["auth_time"].integer }
                #expect(times.count == 2 && times[1] <= times[0] - 600, "the time of the sign-in never moves")
            }
            for scope in ["phone", "offline_access", "nothing"] {
                #expect(try await app.credentials(scope).isOAuthError(400, "invalid_scope"), "\(scope)")
            }
            let access = try await app.credentials("profile")["access_token"].string ?? ""
            #expect(try await app.userInfo(access)["sub"].string == ada.uid)
            #expect(try await app.isActive(access))
            let parents = try await server.count(
                "SELECT count(*) FROM sessions WHERE client_id LIKE 'dyn~%' AND parent_id IS NULL")
            #expect(parents == 1)
            let events = try await server.count("SELECT count(*) FROM audit_events WHERE event = 'instance.bound'")
            #expect(events == 1)
        }
    }

    @Test func `signing in again moves the session, and somebody else replaces it`() async throws {
        try await TestServer.with(application: RelyingParty.instances("confirm: true")) { server in
            let (app, _) = try await RelyingParty(server).install()
            let (ada, ben) = (try await app.api.register(at: server), try await app.api.register(at: server))
            var browser = PageBrowser(server)
            let scope = ["scope": "openid offline_access"]
            let first = try await browser.signIn(ada, at: browser.begin(app, scope))
            let former = try await app.redeem(first.code ?? "")
            try await server.age("sessions", "authenticated_at", by: "10 minutes", where: "kind = 'client'")
            let again = try await browser.submit("continue", of: browser.begin(app, scope))
            let moved = try await app.redeem(again.code ?? "")
            let sids = try [former, moved].map { try DecodedToken($0["access_token"].string ?? "").claims["sid"] }
            #expect(sids[0] == sids[1] && moved.status == 200, "\(moved.text)")
            var other = PageBrowser(server)
            #expect(try await other.signIn(ben, at: other.begin(RelyingParty(server))).code != nil)
            let asked = try await other.begin(app, scope)
            #expect(asked.step == "confirm" && asked.text.contains(ben.email), "\(asked.text)")
            let (start, end) = (ada.email.prefix(1), ada.email.drop { $0 != "@" })
            #expect(asked.text.contains("\(start)•••\(end)") && !asked.text.contains(ada.email))
            let code = try await other.submit("continue", of: asked).code ?? ""
            let replaced = try await app.redeem(code)
            #expect(try DecodedToken(replaced["access_token"].string ?? "").claims["sub"].string == ben.uid)
            #expect(try await app.userInfo(moved["access_token"].string ?? "").isOAuthError(401, "invalid_token"))
            #expect(try await app.refresh(moved["refresh_token"].string ?? "").isOAuthError(400, "invalid_grant"))
            let owner = try DecodedToken(try await app.credentials("openid")["access_token"].string ?? "")
            #expect(owner.claims["sub"].string == ben.uid)
            let mail = try #require(try await app.api.mails(to: ada.email, at: server, count: 2).first)
            #expect(mail.text.contains("Company") && mail.text.contains("another account"), "\(mail.text)")
            let reasons = try await server.text(
                "SELECT string_agg(details->>'reason', ' ') FROM audit_events WHERE event = 'session.ended'")
            #expect(reasons == "rebound")
        }
    }

    @Test func `an installation of somebody else's app gets what the person has allowed it, until that is taken back`()
        async throws
    {
        let configuration = RelyingParty.instances("confirm: false\n      firstParty: false")
            .replacing("email, account, native, qr, offline_access]", with: "email, offline_access]")
        try await TestServer.with(application: configuration) { server in
            let (app, _) = try await RelyingParty(server).install()
            let ada = try await app.api.register(at: server)
            var browser = PageBrowser(server)
            let asked = try await browser.signIn(ada, at: browser.begin(app, ["scope": "openid profile"]))
            #expect(asked.step == "consent" && asked.text.contains("Company"), "\(asked.text)")
            #expect(try await app.credentials("openid").isOAuthError(400, "unauthorized_client"), "not yet allowed")
            #expect(try await browser.submit("deny", of: asked).returnedError == "access_denied")
            #expect(try await app.credentials("openid").isOAuthError(400, "unauthorized_client"), "refused")

            let again = try await browser.begin(app, ["scope": "openid profile"])
            let first = try await app.redeem(try await browser.submit("allow", of: again).code ?? "")
            #expect(first.status == 200, "\(first.text)")
            for scope in [nil, "profile"] {
                let answer = try await app.credentials(scope)
                #expect(answer["scope"].string == "openid profile", "\(scope ?? "-"): \(answer.text)")
            }
            #expect(try await app.credentials("email").isOAuthError(400, "invalid_scope"), "not allowed")

            let more = try await browser.begin(app, ["scope": "openid profile email"])
            #expect(more.step == "consent", "\(more.text)")
            #expect(try await app.redeem(browser.submit("allow", of: more).code ?? "").status == 200)
            let renewed = try await app.credentials("email")
            #expect(renewed["scope"].string == "openid email", "\(renewed.text)")

            let tokens = [first, renewed].map { $0["access_token"].string ?? "" }
            for token in tokens { #expect(try await app.userInfo(token).status == 200) }
            let taken = try await app.api.delete("/auth/grants/\(app.client)", bearer: ada.accessToken)
            #expect(taken.status == 204, "\(taken.text)")
            #expect(try await app.credentials("openid").isOAuthError(401, "invalid_client"))
            for token in tokens { #expect(try await app.userInfo(token).isOAuthError(401, "invalid_token")) }
            #expect(try await server.count("SELECT count(*) FROM consents") == 0)
        }
    }

    @Test func `a password that is typed on another account's installation leads to a page that names both`()
        async throws
    {
        try await TestServer.with(application: RelyingParty.instances("confirm: true")) { server in
            let (app, _) = try await RelyingParty(server).install()
            let (ada, ben) = (try await app.api.register(at: server), try await app.api.register(at: server))
            var browser = PageBrowser(server)
            let first = try await browser.signIn(ada, at: browser.begin(app))
            #expect(try await app.redeem(first.code ?? "").status == 200)
            let owner = "\(ada.email.prefix(1))•••\(ada.email.drop { $0 != "@" })"
            let chooser = try await browser.begin(app, ["prompt": "select_account"])
            let typed = try await browser.signIn(ben, at: browser.submit("other", of: chooser))
            #expect(typed.step == "confirm" && typed.text.contains(ben.email), "\(typed.text)")
            #expect(typed.text.contains(owner))
            #expect(try await app.credentials("openid").status == 200, "it is still that of the first account")
            #expect(try await browser.submit("continue", of: typed).code != nil)
            let again = try await browser.begin(app, ["prompt": "login", "login_hint": ben.email])
            let proven = try await browser.submit("password", ["password": ben.password], of: again)
            #expect(proven.step == "confirm" && proven.text.contains(owner), "no code was redeemed: \(proven.text)")
            let code = try #require(try await browser.submit("continue", of: proven).code)
            #expect(try await app.redeem(code).status == 200)
            let own = try await browser.begin(app, ["prompt": "login", "login_hint": ben.email])
            #expect(try await browser.submit("password", ["password": ben.password], of: own).code != nil)
        }
    }

    @Test func `a late first sign-in and an unused installation find it gone`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            let cookie = try await party.browser(of: ada)
            let (late, _) = try await party.install()
            let code = try await late.code(cookie: cookie)
            try await server.age("clients", "expires_at", by: "61 minutes")
            #expect(try await late.redeem(code).isOAuthError(401, "invalid_client"))
            #expect(try await late.credentials().isOAuthError(401, "invalid_client"))
            let page = try await late.authorize(cookie: cookie)
            #expect(page.status == 400 && page.text.contains("data-error=\"invalid_client\""))
            let (idle, _) = try await party.install()
            _ = try await idle.bind(to: ada)
            try await server.age("sessions", "last_used_at", "expires_at", by: "364 days", where: "kind = 'client'")
            #expect(try await idle.credentials("openid").status == 200, "a use puts the end off")
            try await server.age("sessions", "last_used_at", "expires_at", by: "364 days", where: "kind = 'client'")
            #expect(try await idle.credentials("openid").status == 200)
            try await server.age("sessions", "last_used_at", "expires_at", by: "366 days", where: "kind = 'client'")
            #expect(try await idle.credentials("openid").isOAuthError(401, "invalid_client"))
        }
    }

    // MARK: - Refresh tokens

    @Test func `a refresh may name native or qr alone, although neither was granted`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let (app, _) = try await RelyingParty(server).install()
            let ada = try await app.api.register(at: server)
            var refresh = try await app.bind(to: ada, scope: "openid offline_access")["refresh_token"].string ?? ""
            for scope in ["native", "qr", "blitz_qr_auth"] {
                let answer = try await app.refresh(refresh, ["scope": scope])
                #expect(answer["scope"].string == scope && answer["id_token"].isNull, "\(answer.text)")
                #expect((answer["css"].string != nil) == (scope == "native"))
                refresh = try #require(answer["refresh_token"].string)
            }
            for scope in ["native openid", "profile", "native qr"] {
                #expect(try await app.refresh(refresh, ["scope": scope]).isOAuthError(400, "invalid_scope"), "\(scope)")
            }
            #expect(try await app.refresh(refresh)["scope"] == "openid offline_access", "the stored scope stays")
            let web = RelyingParty(server)
            let own = try await web.redeem(
                web.code(["scope": "openid offline_access"], cookie: web.browser(of: ada)))
            let refused = try await web.refresh(own["refresh_token"].string ?? "", ["scope": "native"])
            #expect(refused.isOAuthError(400, "invalid_scope"))
        }
    }

    // MARK: - Lists

    @Test func `the person sees each installation with its device, and takes it back`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            let (phone, _) = try await party.install(["device_type": "android_phone"])
            let (named, _) = try await party.install(["device_name": "Ada's iPad"])
            for app in [phone, named] { _ = try await app.bind(to: ada) }
            let grants = try await party.api.get("/auth/grants", bearer: ada.accessToken)["grants"].array ?? []
            #expect(Set(grants.map { $0["clientId"].string }) == [phone.client, named.client])
            #expect(Set(grants.map { $0["device"].string }) == ["Android phone", "Ada's iPad"])
            for grant in grants {
                #expect(
                    grant["kind"] == "instance" && grant["name"] == "Company" && grant["lastAddress"] == "127.0.0.1")
                #expect(grant["lastUsedAt"].string != nil)
            }
            let sessions = try await party.api.get("/auth/sessions", bearer: ada.accessToken)
            let apps = sessions["sessions"].array?.filter { $0["kind"].string == "client" } ?? []
            #expect(Set(apps.map { $0["device"].string }) == ["Android phone", "Ada's iPad"], "\(sessions.text)")
            var browser = PageBrowser(server)
            _ = try await browser.signIn(ada, at: browser.open("/signin"))
            let page = try await browser.open("/account/apps?lang=de")
            #expect(page.text.contains("Android-Telefon") && page.text.contains("Ada&#39;s iPad"), "\(page.text)")
            #expect(try await party.api.delete("/auth/grants/\(named.client)", bearer: ada.accessToken).status == 204)
            #expect(try await party.api.delete("/auth/grants/\(named.client)", bearer: ada.accessToken).status == 404)
            #expect(try await named.credentials("openid").isOAuthError(401, "invalid_client"))
            let forms = page.forms.filter { $0.fields["clientId"] == phone.client }
            let token = try #require(forms.first?.fields["csrf"])
            let revoked = try await browser.send(
                .POST, "/account/apps", form: ["csrf": token, "clientId": phone.client, "action": "revoke"])
            #expect(revoked.status == 200 && !revoked.text.contains("Android"), "\(revoked.text)")
            #expect(try await phone.credentials("openid").isOAuthError(401, "invalid_client"))
        }
    }
}
