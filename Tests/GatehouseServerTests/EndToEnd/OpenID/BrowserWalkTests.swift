import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// What people do with their accounts, by clicks alone, in a real browser without scripts.
@Suite(.enabled(if: Chromium.isInstalled, "Debian's package chromium is not installed"))
struct BrowserWalkTests {
    private static let number = "+33612345678"

    private func with(
        providers: String = "phone: { enabled: true }", _ body: @Sendable @escaping (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with(application: RelyingParty.configuration, providers: providers, body)
    }

    /// A server at which people can sign in with a provider that is called Campus.
    private func withCampus(
        _ body: @Sendable @escaping (TestServer, OpenIDProviderMock) async throws -> Void
    ) async throws {
        try await OpenIDProviderMock.with { mock in
            let settings = "kind: oidc, displayName: Campus, clientID: client, clientSecret: secret"
            try await with(providers: "campus: { \(settings), issuer: \"\(mock.issuer)\" }") { server in
                try await body(server, mock)
            }
        }
    }

    @Test func `a guest becomes permanent`() async throws {
        try await with { server in
            let address = APIClient.newAddress()
            try await BrowserWalk.with(server, address) { walk in
                try await walk.change(until: "document.querySelector('button[value=guest]')") {
                    try await walk.browser.open(PageBrowser.issuer + "/")
                }
                try await walk.press("guest", to: "account")
                let guest = try #require(try await server.text("SELECT uid::text FROM accounts"))
                #expect(try await server.providers(of: guest) == "anonymous")
                try await walk.follow("/account/identities", to: "account-identities")
                try await walk.press("add", beside: "E-mail", to: "signin")
                try await walk.press("code", ["identifier": address], to: "code")
                try await walk.press("verify", ["code": walk.code(to: address)], to: "account-identities")
                #expect(try await walk.text.contains(address))
                #expect(try await server.providers(of: guest) == "email")

                try await walk.follow("/account", to: "account")
                try await walk.signOut()
                try await walk.open("/signin", at: "signin")
                try await walk.press("code", ["identifier": address], to: "code")
                try await walk.press("verify", ["code": walk.code(to: address)], to: "account")
                #expect(try await walk.text.contains(address))
                #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
                try await walk.signOut()
                try await walk.expectNothingBehind(address, guest)
            }
        }
    }

    @Test func `a person connects a device, and signs it out`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let device = try await Device(server)
            try await BrowserWalk.with(server, ada.email) { walk in
                try await walk.open("/device?user_code=\(device.userCode)", at: "device")
                try await walk.press("continue", ["user_code": "bbbb bbbb"], to: "device")
                #expect(try await walk.problem == "INVALID_CREDENTIALS")
                try await walk.press("continue", ["user_code": device.userCode.lowercased()], to: "signin")
                try await walk.press(
                    "password", ["identifier": ada.email, "password": ada.password], to: "device-confirm")
                #expect(try await walk.text.contains(device.userCode))
                try await walk.pressTwice("allow", to: "done")
                #expect(try await walk.text.contains("Device connected"))
                let tokens = try await device.poll()
                try #require(tokens.status == 200, "\(tokens.text)")

                try await walk.open("/account/sessions", at: "account-sessions")
                try await walk.press("end", beside: "Photos TV", to: "account-sessions")
                let refreshed = try await device.client.refresh(tokens["refresh_token"].string ?? "")
                #expect(refreshed.isOAuthError(400, "invalid_grant"))
                try await walk.signOut()
            }
        }
    }

    @Test func `two accounts become one at the account pages, and part again`() async throws {
        try await with { server in
            let ada = try await APIClient(server).register(at: server)
            let caller = try await server.caller(Self.number)
            try await BrowserWalk.with(server, ada.email, Self.number) { walk in
                try await walk.signIn(ada)
                try await walk.follow("/account/identities", to: "account-identities")
                try await walk.press("add", beside: "Phone", to: "signin")
                try await walk.press("code", ["identifier": Self.number], to: "code")
                try await walk.press("verify", ["code": walk.code(to: Self.number)], to: "conflict")
                #expect(try await walk.problem == "IDENTITY_IN_USE")
                try await walk.press("merge", to: "merge")
                try await walk.browser.click("document.getElementById('current')")
                try await walk.press("merge", to: "account-identities")
                #expect(try await server.providers(of: ada.uid) == "email phone")

                try await walk.follow("/account/merges", to: "account-merges")
                try await walk.press("undo", to: "account-merges")
                #expect(try await server.providers(of: ada.uid) == "email")
                #expect(try await server.providers(of: caller.uid) == "phone")
                try await walk.follow("/account", to: "account")
                try await walk.signOut()
                try await walk.expectNothingBehind(ada.email, Self.number, ada.uid, caller.uid)
            }
        }
    }

    @Test func `two accounts become one during a sign-in, and part again`() async throws {
        try await withCampus { server, mock in
            let ada = try await APIClient(server).register(at: server)
            try await BrowserWalk.with(server, ada.email, "jo@example.com") { walk in
                try await walk.open("/signin", at: "signin")
                try await walk.signIn(at: "campus", as: "jo", to: "new-or-link")
                try await walk.press("link", to: "signin")
                // Meanwhile the person opens an account with it in an app.
                let token = try await mock.idToken(of: "jo")
                let app = try await APIClient(server).post("/auth/oauth/campus/token", ["idToken": .string(token)])
                let other = try Person(app, email: "", password: "")
                try await walk.press("password", ["identifier": ada.email, "password": ada.password], to: "conflict")
                try await walk.press("merge", to: "merge")
                try await walk.browser.click("document.getElementById('other')")
                try await walk.press("merge", to: "account")
                #expect(try await server.providers(of: other.uid) == "campus email")

                try await walk.follow("/account/merges", to: "account-merges")
                try await walk.press("undo", to: "account-merges")
                #expect(try await server.providers(of: ada.uid) == "email")
                #expect(try await server.providers(of: other.uid) == "campus")
                try await walk.follow("/account", to: "account")
                try await walk.signOut()
                try await walk.expectNothingBehind(ada.email, ada.uid, other.uid)
            }
        }
    }

    @Test func `an account is deleted, restored, deleted again and erased`() async throws {
        try await with { server in
            let ada = try await APIClient(server).register(at: server)
            try await BrowserWalk.with(server, ada.email) { walk in
                try await walk.signIn(ada)
                try await walk.delete()
                try await walk.readReceipt("scheduled")
                try await walk.signIn(ada, to: "restore")
                #expect(try await walk.problem == "ACCOUNT_DELETED")
                try await walk.press("restore", to: "account")
                #expect(try await walk.text.contains(ada.email))

                try await walk.delete()
                try await server.makeDue()
                try await server.erase(ada.uid)
                try await walk.readReceipt("erased")
                #expect(try await server.accounts(ada.uid) == 0)
                try await walk.signIn(ada, to: "signin")
                #expect(try await walk.problem == "INVALID_CREDENTIALS")
                try await walk.open("/signin", at: "signin")
                try await walk.expectNothingBehind(ada.email, ada.uid)
            }
        }
    }

    @Test func `a provider is linked and removed`() async throws {
        try await withCampus { server, _ in
            let ada = try await APIClient(server).register(at: server)
            try await BrowserWalk.with(server, ada.email, "jo@example.com") { walk in
                try await walk.signIn(ada)
                try await walk.follow("/account/identities", to: "account-identities")
                try await walk.press("add", beside: "Campus", to: "signin")
                try await walk.signIn(at: "campus", as: "jo", to: "account-identities")
                #expect(try await server.providers(of: ada.uid) == "campus email")
                // The link was this browser's last proof, so the session ends with the identity.
                try await walk.press("remove", beside: "Campus", to: "signin")
                #expect(try await server.providers(of: ada.uid) == "email")
                try await walk.signIn(ada)
                try await walk.signOut()
                try await walk.expectNothingBehind(ada.email, ada.uid)
            }
        }
    }

    // MARK: - Back, and again

    @Test func `after a sign-in, the back button and a stale tab lead to the account`() async throws {
        try await with { server in
            let ada = try await APIClient(server).register(at: server)
            try await BrowserWalk.with(server, ada.email) { walk in
                try await walk.open("/signin", at: "signin")
                let (place, first) = (try await walk.browser.address, walk.browser.tab)
                try await walk.browser.openTab()
                try await walk.browser.disableScripts()
                let stale = walk.browser.tab
                try await walk.go(to: "signin") { try await walk.browser.open(place) }
                walk.browser.tab = first
                try await walk.press("password", ["identifier": ada.email, "password": ada.password], to: "account")

                #expect(try await walk.back() == "error", "the sign-in is over")
                try await walk.follow("/account", to: "account")

                walk.browser.tab = stale
                try await walk.press("password", ["identifier": ada.email, "password": ada.password], to: "error")
                try await walk.follow("/account", to: "account")
                #expect(try await server.liveSessions(of: ada.uid) == 2, "that of the registration, and one")
            }
        }
    }

    @Test func `two clicks at once are one sign-in, one account and one merge`() async throws {
        try await with { server in
            let address = APIClient.newAddress()
            let caller = try await server.caller(Self.number)
            try await BrowserWalk.with(server, address, Self.number) { walk in
                try await walk.open("/signup", at: "signup")
                try await walk.pressTwice("code", ["identifier": address], to: "code")
                try await walk.pressTwice("verify", ["code": walk.code(to: address)], to: "welcome")
                try await walk.pressTwice("save", ["displayName": "Ada"], to: "account")
                #expect(try await walk.text.contains("Ada"))
                #expect(try await server.count("SELECT count(*) FROM accounts") == 2)

                try await walk.follow("/account/identities", to: "account-identities")
                try await walk.pressTwice("add", beside: "Phone", to: "signin")
                try await walk.pressTwice("code", ["identifier": Self.number], to: "code")
                try await walk.pressTwice("verify", ["code": walk.code(to: Self.number)], to: "conflict")
                try await walk.pressTwice("merge", to: "merge")
                try await walk.pressTwice("merge", to: "account-identities")
                #expect(try await server.count("SELECT count(*) FROM merges") == 1)
                try await walk.follow("/account/merges", to: "account-merges")
                try await walk.pressTwice("undo", to: "account-merges")
                #expect(try await server.providers(of: caller.uid) == "phone")
            }
        }
    }
}

extension BrowserWalk {
    /// Deletes the account that is signed in, with the word that the page asks for.
    fileprivate func delete() async throws {
        try await follow("/account/data", to: "account-data")
        let word = try await browser.evaluate("document.querySelector('[name=word]').dataset.word").string ?? ""
        try await press("delete", ["word": word], to: "done")
    }

    /// Follows the link to the receipt of a deletion, which is JSON in another tab, and waits until it says the status.
    fileprivate func readReceipt(_ status: String) async throws {
        let (tab, link) = (browser.tab, "document.getElementById('receipt')")
        let place = try #require(try await browser.evaluate("\(link).getAttribute('href')").string)
        try await browser.click(link)
        try await browser.enterTab(at: place)
        try await browser.wait(until: "document.body.innerText.includes('\"\(status)\"')")
        _ = try await browser.call("Page.close")
        browser.tab = tab
    }
}
