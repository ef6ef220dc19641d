import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// What apps for Blitz send and read, beyond their walk in a real browser (`BlitzWalkTests`).
struct BlitzAppTests {
    private func with(
        software: String = "", _ body: @Sendable @escaping (BlitzApp, Person) async throws -> Void
    ) async throws {
        try await TestServer.with(application: BlitzApp.configuration(software: software)) { server in
            try await body(BlitzApp(server), APIClient(server).register(at: server))
        }
    }

    @Test func `a registration has every member that the documentation shows`() async throws {
        try await with { app, _ in
            let instance = try await app.register()
            #expect(instance.clientId.hasPrefix("dyn~CSI~") && instance.softwareId == "CSI")
            #expect(instance.softwareVersion == "1" && instance.clientSecretExpiresAt == 0)
            #expect(instance.grantTypes == ["authorization_code"] && instance.responseTypes == ["code"])
            #expect(instance.tokenEndpointAuthMethod == "client_secret_basic")
            #expect(instance.redirectUris == [BlitzApp.privateURI, BlitzApp.webURI])
            #expect(instance.scope.split(separator: " ").contains("blitz_qr_auth"))
            let refused = try await app.registration(token: "x")
            #expect(refused.status == 401 && refused.text.contains("invalid_token"), "\(refused.text)")
            for (software, statement, error) in [
                ("OTHER", BlitzApp.softwareStatement, "invalid_software_statement"),
                ("CSI", BlitzApp.softwareStatement + "x", "unapproved_software_statement"),
            ] {
                let answer = try await app.registration(software: software, statement: statement)
                let refusal = try answer.decoded(BlitzApp.Refusal.self, status: 400)
                #expect(refusal.error == error, "\(answer.text)")
            }
        }
    }

    @Test func `the metadata has every URL that the documentation lists`() async throws {
        try await with { app, _ in
            let discovered = try await app.discovering().endpoints
            #expect(discovered == app.endpoints)
        }
    }

    @Test(arguments: ["iphone", "ipad", "android_phone", "android_tab", "win_mobile", "watch-7"])
    func `every type of device registers`(type: String) async throws {
        try await with { app, _ in
            var app = app
            app.deviceType = type
            let instance = try await app.register()
            #expect(instance.clientId.hasPrefix("dyn~CSI~"))
        }
    }

    @Test func `an app stays signed in with refresh tokens, and gets a cookie by one`() async throws {
        try await with { app, person in
            let (instance, tokens, _) = try await app.signIn(person, ["access_type": "offline"])
            let refresh = try #require(tokens.refreshToken)
            let client = try await AppAuthApp(app, issuer: PageBrowser.issuer + "/blitz", as: instance)
            let next = try await client.refresh(refresh)
            #expect(next.scope == tokens.scope, "\(next)")
            let native = try await app.refresh(next.refreshToken ?? "", scope: "native", by: instance)
                .decoded(BlitzApp.NativeTokens.self)
            #expect(native.scope == "native")
            for (type, isOffline) in [("online", false), ("offline", true)] {
                let again = try await app.signIn(person, ["access_type": type]).tokens
                #expect((again.refreshToken != nil) == isOffline)
            }
            #expect(try await app.signIn(person).tokens.refreshToken == nil)
        }
    }

    @Test(arguments: [("offline", true), ("online", false)])
    func `without access_type, the software's own counts`(type: String, isOffline: Bool) async throws {
        try await with(software: "accessType: \(type)") { app, person in
            let tokens = try await app.signIn(person, scope: "openid offline_access").tokens
            #expect((tokens.refreshToken != nil) == isOffline)
        }
    }

    @Test func `the answer of a sign-in without a state has none, and the documentation's short challenge is refused`()
        async throws
    {
        try await with { app, person in
            let (_, _, browser) = try await app.signIn(person)
            var phone = browser
            let instance = try await app.register()
            let short = ["code_challenge": "qjrzSW9gMiUgpUvqgEPE4"]
            let refused = try await phone.open(app.login(instance, short).url)
            #expect(refused.returnedError == "invalid_request", "\(refused.text)")
            let place = app.login(instance).url.replacing(/&?state=[^&]*/, with: "")
            let page = try await phone.open(place)
            let ended = page.step == "confirm" ? try await phone.submit("continue", of: page) : page
            let query = URLComponents(string: ended.target ?? "")
            #expect(query?.query("code") != nil && query?.query("state") == nil, "\(ended.target ?? "")")
            #expect(query?.query("iss") == PageBrowser.issuer + "/blitz")
        }
    }

    @Test func `an instance reads its tokens, and signs the person out of the browser`() async throws {
        try await with { app, person in
            let (instance, tokens, browser) = try await app.signIn(person)
            let read = try await app.introspection(of: tokens.accessToken, by: instance)
            #expect(read.text.contains("\"active\":true") && read.text.contains(person.uid), "\(read.text)")
            let client = try await AppAuthApp(app, issuer: PageBrowser.issuer + "/blitz", as: instance)
            var phone = browser
            let signedOut = try await phone.open(
                client.endSession(idToken: tokens.idToken, returningTo: BlitzApp.logoutURI, state: "s"))
            #expect(signedOut.target == BlitzApp.logoutURI + "?state=s", "\(signedOut.status) \(signedOut.text)")
            #expect(try await phone.open("/blitz/profile").step == "signin")
            #expect(try await app.relogin(instance, scope: "profile").status == 200, "the app stays signed in")
        }
    }

    @Test func `an app that is deleted leaves the profile, and a new one asks for the password where it wants it`()
        async throws
    {
        try await with { app, person in
            var (instance, _, browser) = try await app.signIn(person)
            #expect(try await browser.open("/account/apps").text.contains(instance.clientId))
            #expect(try await app.delete(instance).status == 204)
            let page = try await browser.open("/account/apps")
            #expect(page.step == "account-apps", "\(page.text)")
            #expect(!page.text.contains(instance.clientId) && !page.text.contains("Company"), "\(page.text)")

            instance = try await app.register()
            let request = app.login(instance, ["prompt": "login"])
            let asked = try await browser.open(request.url)
            #expect(asked.step == "reauthenticate" && asked.text.contains(person.email), "\(asked.text)")
            let ended = try await browser.submit("password", ["password": person.password], of: asked)
            let tokens = try await app.tokens(
                for: request.code(in: ended.target ?? "\(ended.text)"), request, by: instance)
            #expect(try DecodedToken(tokens.idToken).claims["sub"].string == person.uid)
            #expect(try await browser.open("/account/apps").text.contains(instance.clientId))
        }
    }

    @Test func `a wrong pair and an unknown instance get one answer`() async throws {
        try await with { app, person in
            let (instance, _, _) = try await app.signIn(person)
            var wrong = instance
            wrong.clientSecret = String(instance.clientSecret.reversed())
            let (gone, other) = (try await app.register(), try await app.register())
            #expect(try await app.delete(gone).status == 204)
            #expect(try await app.delete(other, token: instance.registrationAccessToken).status == 401)
            for pair in [wrong, gone] {
                let answer = try await app.relogin(pair, scope: "profile")
                #expect(answer.headers.first(name: "www-authenticate") == "Basic realm=\"gatehouse\"")
                let refusal = try answer.decoded(BlitzApp.Refusal.self, status: 401)
                #expect(
                    refusal == .init(error: "invalid_client", errorDescription: "Client authentication failed."))
            }
        }
    }
}
