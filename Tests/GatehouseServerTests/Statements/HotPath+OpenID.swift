import Foundation
import NIOHTTP1
import ProviderKit
import Testing

extension HotPath {
    /// The calls of OpenID clients.
    static let openID: [HotPath] = [
        HotPath("discovery", 0, because: "it is configured") { stage in
            { try await stage.client.send(.GET, "/.well-known/openid-configuration") }
        },
        HotPath("authorize, signed in", 1) { stage in
            let (party, cookie, _) = try await stage.signedIn()
            return { try await party.authorize(cookie: cookie) }
        },
        HotPath("authorize, not signed in", 1) { stage in
            let party = RelyingParty(stage.server)
            return { try await party.authorize(cookie: nil) }
        },
        HotPath("authorize that asks in any case, signed in", 1) { stage in
            let (party, cookie, _) = try await stage.signedIn()
            return { try await party.authorize(["prompt": "login"], cookie: cookie) }
        },
        HotPath(
            "authorize that asks, signed in", 2, because: "it depends on who is signed in whether the request is stored"
        ) { stage in
            let (party, cookie, _) = try await stage.signedIn()
            return { try await party.authorize(["prompt": "consent"], cookie: cookie) }
        },
        HotPath("a page", 1) { stage in
            var browser = PageBrowser(stage.server)
            let path = try await browser.begin(RelyingParty(stage.server)).path
            return { [browser] in
                var tab = browser
                return try await tab.open(path).answer
            }
        },
        HotPath("a page with a QR code", 2, because: "it reads the request, and the state of its code") { stage in
            let (browser, page) = try await stage.qrCode()
            return {
                var tab = browser
                return try await tab.open(page.path).answer
            }
        },
        HotPath("the state of a QR code", 1) { stage in
            let (browser, page) = try await stage.qrCode()
            return { try await browser.waitForCode(at: page, after: nil) }
        },
        HotPath("a phone's look at a QR code", 3, statements: 3, because: "replicas are told with the change") {
            stage in
            let phone = QRPhone(of: try await stage.client.register(at: stage.server), at: stage.server)
            let page = try await stage.qrCode().page
            return { try await phone.look(page.qrCode ?? "") }
        },
        HotPath(
            "a form with a password", 5,
            because: "it reads the request and signs in, then reads who is, and stores a code"
        ) { stage in
            let person = try await stage.client.register(at: stage.server)
            var browser = PageBrowser(stage.server)
            let page = try await browser.begin(RelyingParty(stage.server))
            return { [browser] in
                var tab = browser
                return try await tab.signIn(person, at: page).answer
            }
        },
        HotPath("pushed request", 1) { stage in
            let party = RelyingParty(stage.server)
            return {
                try await party.post(
                    "/oauth/par",
                    [
                        "redirect_uri": party.redirectURI, "response_type": "code", "scope": "openid",
                        "code_challenge": String(repeating: "c", count: 43), "code_challenge_method": "S256",
                    ])
            }
        },
        HotPath("a device's request", 1) { stage in
            let party = Device.client("tv", at: stage.server)
            return { try await party.post("/oauth/device", [:]) }
        },
        HotPath("a device's poll that connects it", 1) { stage in
            let person = try await stage.client.register(at: stage.server)
            let device = try await Device(stage.server)
            var browser = PageBrowser(stage.server)
            try await browser.allow(device, as: person)
            return { try await device.poll() }
        },
        HotPath("code", 1) { stage in
            let (party, cookie, _) = try await stage.signedIn()
            let code = try await party.code(cookie: cookie)
            return { try await party.redeem(code) }
        },
        HotPath("a client's refresh", 1) { stage in
            let (party, _, tokens) = try await stage.signedIn()
            return { try await party.refresh(tokens["refresh_token"].string ?? "") }
        },
        HotPath("a client's refresh for a scope", 1) { stage in
            let (party, _, tokens) = try await stage.signedIn()
            return { try await party.refresh(tokens["refresh_token"].string ?? "", ["scope": "openid"]) }
        },
        HotPath("a client's refresh with claims by name", 1) { stage in
            let (party, _, tokens) = try await stage.signedIn(["claims": #"{"id_token":{"email":null}}"#])
            return { try await party.refresh(tokens["refresh_token"].string ?? "") }
        },
        HotPath("client credentials", 0, because: "the client is configured") { stage in
            var jobs = RelyingParty(stage.server)
            jobs.client = "jobs"
            let party = jobs
            return { try await party.post("/oauth/token", ["grant_type": "client_credentials"]) }
        },
        HotPath("registration of an installation", 1) { stage in
            { try await RelyingParty(stage.server).registerInstance() }
        },
        HotPath("client credentials of an installation", 1) { stage in
            let app = try await RelyingParty(stage.server).install().app
            _ = try await app.bind(to: stage.client.register(at: stage.server))
            return { try await app.credentials("profile") }
        },
        HotPath(
            "code of an installation", 3,
            because: "the installation proves itself; a session that it had ends in the transaction that uses the code"
        ) { stage in
            let app = try await RelyingParty(stage.server).install().app
            let cookie = try await app.browser(of: stage.client.register(at: stage.server))
            let code = try await app.code(cookie: cookie)
            return { try await app.redeem(code) }
        },
        HotPath("userinfo", 1) { stage in
            let (party, _, tokens) = try await stage.signedIn()
            return { try await party.userInfo(tokens["access_token"].string ?? "") }
        },
        HotPath("revocation", 1) { stage in
            let (party, _, tokens) = try await stage.signedIn()
            return { try await party.post("/oauth/revoke", ["token": tokens["refresh_token"].string ?? ""]) }
        },
        HotPath(
            "sign-out by a client", 3,
            because: "it finds the browser's session and ends it, then ends what clients opened while it waited"
        ) { stage in
            let (party, cookie, tokens) = try await stage.signedIn()
            let hint = tokens["id_token"].string ?? ""
            return {
                try await party.api.send(.GET, "/oauth/logout?id_token_hint=\(hint)", headers: ["cookie": cookie])
            }
        },
        HotPath("what clients are given", 1) { stage in
            let person = try await stage.client.register(at: stage.server)
            return { try await stage.client.get("/auth/grants", bearer: person.accessToken) }
        },
        HotPath("introspection of an access token", 0, because: "ended sessions are held in memory") { stage in
            let (party, _, tokens) = try await stage.signedIn()
            return { try await party.post("/oauth/introspect", ["token": tokens["access_token"].string ?? ""]) }
        },
    ]
}

extension HotPathStage {
    /// A browser that shows a QR code.
    fileprivate func qrCode() async throws -> (browser: PageBrowser, page: PageBrowser.View) {
        var browser = PageBrowser(server)
        let page = try await browser.showCode(RelyingParty(server))
        return (browser, page)
    }

    /// A client with tokens of a person, and the cookie of that person's browser.
    fileprivate func signedIn(
        _ parameters: [String: String] = [:]
    ) async throws -> (party: RelyingParty, cookie: String, tokens: APIClient.Answer) {
        let party = RelyingParty(server)
        let cookie = try await party.browser(of: client.register(at: server))
        let code = try await party.code(
            parameters.merging(["scope": "openid offline_access"]) { $1 }, cookie: cookie)
        let tokens = try await party.redeem(code)
        try #require(tokens.status == 200, "\(tokens.text)")
        return (party, cookie, tokens)
    }
}
