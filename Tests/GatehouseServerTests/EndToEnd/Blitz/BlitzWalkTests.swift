import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The life of an app for Blitz, in order, with a real browser on the phone, in the app's web view and on a desktop.
///
/// It runs with a client that follows Blitz's documentation and with one that does what AppAuth does.
@Suite(.enabled(if: Chromium.isInstalled, "Debian's package chromium is not installed"))
struct BlitzWalkTests {
    struct Walk: Sendable {
        let server: TestServer
        let client: AppClient
        let app: BlitzApp
        let person: Person
        let web: RelyingParty

        init(_ server: TestServer, of client: AppClient) async throws {
            (self.server, self.client, app) = (server, client, BlitzApp(server))
            person = try await app.api.register(at: server)
            var web = RelyingParty(server)
            web.endpoints = .blitz
            self.web = web
        }
    }

    @Test(arguments: AppClient.allCases)
    func `an app registers, signs in, signs a browser in, is withdrawn, and leaves`(client: AppClient) async throws {
        try await TestServer.with(application: BlitzApp.configuration()) { server in
            let walk = try await Walk(server, of: client)
            try await Chromium.with(server) { phone in
                let instance = try await client.install(walk.app)
                let token = try await walk.signIn(on: instance, in: phone)
                try await walk.signInAgain(on: instance)
                try await walk.openWebResource(of: instance)
                try await walk.answerQRCodes(with: instance)
                try await walk.withdraw(instance, token: token, in: phone)
                try await walk.switchAndLeave(in: phone)
                #expect(phone.blocked == [])
            }
        }
    }

    @Test func `an instance without a sign-in in time is gone`() async throws {
        try await TestServer.with(application: BlitzApp.configuration(firstLoginWithin: "2s")) { server in
            let app = BlitzApp(server)
            let instance = try await app.register()
            try await eventually("the instance is gone") {
                let answer = try await app.relogin(instance, scope: "profile")
                let refusal = try? answer.decoded(BlitzApp.Refusal.self, status: answer.status)
                return answer.status == 401 && refusal?.error == "invalid_client"
            }
            let asked = try await app.send(.GET, app.login(instance).url)
            #expect(asked.status == 400 && asked.text.contains("data-error=\"invalid_client\""), "\(asked.text)")
            #expect(try await app.delete(instance).status == 401)
            #expect(try await app.register().clientId != instance.clientId)
        }
    }
}

extension BlitzWalkTests.Walk {
    // MARK: - The initial login

    /// Signs the person in by both kinds of redirect URI, and returns the last access token.
    fileprivate func signIn(on instance: any InstalledApp, in phone: Chromium) async throws -> String {
        let first = instance.login(redirectURI: BlitzApp.privateURI, [:])
        try await phone.open(first.url)
        try await phone.wait(for: "signin")
        try await phone.type(person.email, into: "identifier")
        try await phone.type(person.password, into: "password")
        let redirect = try await phone.opening(first.redirectURI) { try await phone.click(button("password")) }
        let tokens = try await first.tokens(first.code(redirect))
        #expect(try DecodedToken(tokens.idToken).claims["sub"].string == person.uid)

        // The browser knows the person now, and a press opens the app.
        let wrong = instance.login(redirectURI: BlitzApp.privateURI, [:])
        let code = try wrong.code(await proceed(at: wrong, in: phone))
        let refusal = try await wrong.redeemWrongly(code).decoded(BlitzApp.Refusal.self, status: 400)
        #expect(refusal.error == "invalid_grant")
        #expect(refusal.errorDescription.hasPrefix("The provided authorization grant is invalid, expired, revoked"))

        let second = instance.login(redirectURI: BlitzApp.webURI, [:])
        let last = try await second.tokens(second.code(await proceed(at: second, in: phone)))
        #expect(last.scope == "openid profile" && last.tokenType == "Bearer" && last.expiresIn == 3600)
        let data = try await instance.userData(last.accessToken)
        #expect(data.status == 200 && data.text.contains(person.uid), "\(data.text)")
        return last.accessToken
    }

    private func proceed(at login: AppLogin, in phone: Chromium) async throws -> String {
        try await phone.open(login.url)
        try await phone.wait(for: "confirm")
        return try await phone.opening(login.redirectURI) { try await phone.click(button("continue")) }
    }

    // MARK: - Without the person

    fileprivate func signInAgain(on instance: any InstalledApp) async throws {
        let tokens = try await instance.credentials("profile").decoded(BlitzApp.ReloginTokens.self)
        #expect(tokens.scope == "openid profile" && tokens.tokenType == "Bearer" && tokens.expiresIn == 3600)
        #expect(try await instance.userData(tokens.accessToken).text.contains(person.uid))
    }

    /// Opens a web client from the app, which signs in without a page, once.
    fileprivate func openWebResource(of instance: any InstalledApp) async throws {
        let native = try await instance.credentials("native").decoded(BlitzApp.NativeTokens.self)
        #expect(native.scope == "native")
        for isFirst in [true, false] {
            try await Chromium.with(server) { view in
                _ = try await view.call(
                    "Network.setCookie",
                    [
                        "name": "css", "value": .string(native.css), "url": .string(PageBrowser.issuer + "/blitz"),
                        "path": "/blitz", "httpOnly": true,
                    ])
                try await view.open(place)
                if isFirst {
                    #expect(try await view.leave(to: web.redirectURI).contains("code="))
                } else {
                    try await view.wait(for: "signin")
                }
                let cookies = try await view.call("Network.getAllCookies")["cookies"].array ?? []
                #expect(!cookies.contains { $0["name"] == "css" }, "\(cookies)")
            }
        }
    }

    // MARK: - QR codes

    /// Signs desktops in: a code that is confirmed, refused, expired, and used.
    fileprivate func answerQRCodes(with instance: any InstalledApp) async throws {
        let token = try await instance.credentials("blitz_qr_auth").decoded(BlitzApp.ReloginTokens.self).accessToken
        try await Chromium.with(server) { desktop in
            try await desktop.open(place)
            try await desktop.wait(for: "signin")
            let first = try await showQRCode(in: desktop)
            let details = try await app.look(at: first, token).decoded(BlitzApp.LoginDetails.self)
            #expect(details.rpId == "web" && details.deviceType == "pc", "\(details)")
            try await desktop.wait(until: "document.querySelector('main')?.dataset.state === 'scanned'")
            let number = try await desktop.evaluate("document.getElementById('number').textContent").string ?? ""
            #expect(number.count == 2 && details.deviceName.hasSuffix(" · \(number)"), "\(details) \(number)")
            #expect(try await desktop.evaluate("document.querySelector('svg.qr')").isNull)
            #expect(try await app.answer(first, .confirm, token).status == 204)
            try await desktop.wait(until: "document.querySelector('button[value=finish]')")
            try await desktop.click(button("finish"))
            #expect(try await desktop.leave(to: web.redirectURI).contains("code="))

            try await desktop.open(place + "&prompt=select_account")
            try await desktop.wait(for: "accounts")
            try await desktop.press("other")
            try await desktop.wait(for: "signin")
            let second = try await showQRCode(in: desktop)
            #expect(try await app.look(at: second, token).status == 200)
            #expect(
                try await app.answer(second, .refuse(cause: "mistake", comment: "Вход вызван по ошибке"), token).status
                    == 204)
            try await desktop.wait(until: "document.querySelector('main')?.dataset.state === 'refused'")

            let third = try await showQRCode(in: desktop, by: "again")
            try await server.age("handoffs", "expires_at", by: "10 minutes", where: "state = 'waiting'")
            #expect(try await app.look(at: third, token).text.contains("qr_session_expired"))
            try await desktop.open(desktop.address)
            try await desktop.wait(until: "document.querySelector('main')?.dataset.state === 'expired'")

            let fourth = try await showQRCode(in: desktop, by: "again")
            #expect(try await app.look(at: fourth, token).status == 200)
            #expect(try await app.answer(fourth, .confirm, token).status == 204)
            // The browser knows the account, so its page goes on by itself.
            #expect(try await desktop.leave(to: web.redirectURI).contains("code="))
            #expect(try await app.look(at: fourth, token).text.contains("qr_session_already_completed"))
            #expect(desktop.blocked == [])
        }
    }

    private func showQRCode(in desktop: Chromium, by action: String = "qr") async throws -> String {
        // By script, because the browser drops clicks of the mouse until it has painted the page.
        try await desktop.press(action)
        try await desktop.wait(until: "document.querySelector('main')?.dataset.state === 'waiting'")
        let link = try await desktop.evaluate("document.getElementById('url').textContent").string ?? ""
        return try #require(BlitzApp.code(inLink: link), "\(link)")
    }

    // MARK: - The end

    /// Withdraws the app at the profile.
    fileprivate func withdraw(_ instance: any InstalledApp, token: String, in phone: Chromium) async throws {
        try await phone.open(PageBrowser.issuer + "/blitz/profile")
        try await phone.wait(for: "account")
        try await phone.follow("/account/apps")
        try await phone.wait(for: "account-apps")
        try await phone.click(
            "[...document.querySelectorAll('button[value=revoke]')]"
                + ".find(button => (button.closest('li') ?? button.form).innerText.includes('Company'))")
        try await phone.wait(until: "!document.querySelector('main').innerText.includes('Company')")
        let refusal = try await instance.credentials("profile").decoded(BlitzApp.Refusal.self, status: 401)
        #expect(refusal == .init(error: "invalid_client", errorDescription: "Client authentication failed."))
        try await app.expectRefusal(of: [token])
    }

    /// Signs in again with a chosen account, and deletes the instance.
    fileprivate func switchAndLeave(in phone: Chromium) async throws {
        let instance = try await client.install(app)
        let request = instance.login(redirectURI: BlitzApp.privateURI, ["prompt": "select_account"])
        try await phone.open(request.url)
        try await phone.wait(for: "accounts")
        let redirect = try await phone.opening(request.redirectURI) { try await phone.click(button("choose")) }
        let tokens = try await request.tokens(request.code(redirect))
        let renewed = try await instance.credentials("profile").decoded(BlitzApp.ReloginTokens.self)
        let answer = try await instance.delete()
        #expect(answer.status == 204 && answer.text.isEmpty, "\(answer.text)")
        #expect(try await instance.delete().status == 401)
        #expect(try await instance.credentials("profile").status == 401)
        try await app.expectRefusal(of: [tokens.accessToken, renewed.accessToken])
    }

    /// Where the web client begins.
    private var place: String {
        "\(PageBrowser.issuer)\(web.endpoints.authorization)?\(RelyingParty.encoded(web.parameters()))"
    }

    private func button(_ action: String) -> String { "document.querySelector('button[value=\(action)]')" }
}

extension BlitzApp {
    /// Expects that no access token gets the person's data any more, at the latest after a second.
    func expectRefusal(of tokens: [String]) async throws {
        for token in tokens {
            let start = ContinuousClock.now
            var lastAccepted: Duration = .zero
            try await eventually("the token is refused") {
                let began = ContinuousClock.now - start
                let status = try await userData(token).status
                if status == 200 { lastAccepted = began }
                return status == 401
            }
            #expect(lastAccepted < .seconds(1))
        }
    }
}

extension Chromium {
    /// Makes a move, and returns the address with which the browser then opens an app or leaves for its site.
    ///
    /// What follows is in another tab: the old one may ask whether to open the app, and takes no clicks meanwhile.
    func opening(_ uri: String, _ move: () async throws -> Void) async throws -> String {
        let known = traffic.requests.count
        try await move()
        var opened: String?
        try await wait("\(uri) is opened") {
            // Each call reads the events that have arrived.
            _ = try await evaluate("0")
            opened = traffic.requests.dropFirst(known).map(\.url).first { $0.hasPrefix(uri) }
            return opened != nil
        }
        try await openTab()
        return try #require(opened)
    }
}
