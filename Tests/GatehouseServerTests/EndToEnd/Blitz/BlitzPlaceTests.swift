import Accounts
import Foundation
import NIOHTTP1
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// The endpoints below `/blitz`, an issuer of its own name that shares its sessions and keys with the plain one.
struct BlitzPlaceTests {
    private static let issuer = PageBrowser.issuer + "/blitz"

    private func with(_ body: @Sendable @escaping (TestServer) async throws -> Void) async throws {
        try await TestServer.with(application: BlitzApp.configuration(), others: TestServer.photos, body)
    }

    /// The client `web` at both places.
    private static func parties(_ server: TestServer) -> (plain: RelyingParty, blitz: RelyingParty) {
        var blitz = RelyingParty(server)
        blitz.endpoints = .blitz
        return (RelyingParty(server), blitz)
    }

    // MARK: - Paths

    private static let paths: KeyValuePairs<String, HTTPMethod> = [
        "/blitz/.well-known/openid-configuration": .GET, "/blitz/.well-known/oauth-authorization-server": .GET,
        "/.well-known/oauth-authorization-server/blitz": .GET, "/blitz/.well-known/jwks.json": .GET,
        "/blitz/oauth/ae": .GET, "/blitz/oauth/te": .POST, "/blitz/oauth/me": .GET, "/blitz/oauth/register": .POST,
        "/blitz/oauth/register/dyn~CSI~x": .GET, "/blitz/oauth/introspect": .POST, "/blitz/oauth/logout": .GET,
        "/blitz/oauth/par": .POST, "/blitz/oauth/revoke": .POST, "/blitz/oauth/da": .POST, "/blitz/login/qr": .GET,
        "/blitz/profile": .GET, "/blitz/api/v3/auth/qr/b0671081-cb73-4839-8bc1-8cf020457228": .GET,
        "/blitz/api/v3/auth/qr/b0671081-cb73-4839-8bc1-8cf020457228/confirm": .POST,
        "/blitz/api/v3/auth/qr/b0671081-cb73-4839-8bc1-8cf020457228/refuse": .POST,
    ]

    @Test func `where the paths are not configured, they are unknown with every method`() async throws {
        try await TestServer.with(application: RelyingParty.configuration, others: TestServer.photos) { server in
            for client in [APIClient(server), APIClient(server, application: "photos")] {
                for (path, _) in Self.paths {
                    for method in [HTTPMethod.GET, .HEAD, .POST, .PUT, .DELETE, .OPTIONS] {
                        let answer = try await client.send(method, path)
                        #expect(answer.status == 404, "\(method) \(path)")
                        if method != .HEAD { #expect(answer.code == "NOT_FOUND", "\(answer.text)") }
                    }
                    let preflight = try await client.send(
                        .OPTIONS, path,
                        headers: ["origin": "https://evil.example", "access-control-request-method": "POST"])
                    #expect(preflight.headers.first(name: "access-control-allow-origin") == nil, "\(path)")
                }
            }
        }
    }

    @Test func `where they are configured, another method is refused by name`() async throws {
        try await with { server in
            let client = APIClient(server)
            for (path, method) in Self.paths {
                let answer = try await client.send(.PATCH, path)
                let allowed = answer.headers.first(name: "allow")?.split(separator: ", ").map(String.init) ?? []
                #expect(
                    answer.status == 405 && allowed.contains(method.rawValue), "\(path): \(answer.status) \(allowed)")
                #expect(try await APIClient(server, application: "photos").send(method, path).status == 404, "\(path)")
            }
            #expect(try await client.send(.GET, "/blitz").status == 404)
            #expect(try await client.send(.GET, "/blitz/oauth/authorize").status == 404)
            #expect(try await client.send(.POST, "/oauth/te").status == 404)
        }
    }

    @Test func `requests, user data and sign-out may be posted`() async throws {
        try await with { server in
            let (_, blitz) = Self.parties(server)
            let ada = try await blitz.api.register(at: server)
            let cookie = try await blitz.browser(of: ada)
            let posted = try await blitz.authorize(cookie: nil, isForm: true)
            let place = posted.headers.first(name: "location") ?? ""
            #expect(posted.status == 303 && place.hasPrefix(Self.issuer + "/oauth/ae?client_id=web"), "\(place)")
            let path = String(place.dropFirst(PageBrowser.issuer.count))
            let answer = try await blitz.api.send(.GET, path, headers: ["cookie": cookie])
            let tokens = try await blitz.redeem(answer.returned("code") ?? "")
            let access = try #require(tokens["access_token"].string, "\(tokens.text)")

            let userData = blitz.endpoints.userInfo
            for data in [
                try await blitz.api.send(.POST, userData, bearer: access),
                try await blitz.post(userData, ["access_token": access], isAuthenticated: false),
            ] {
                #expect(data.status == 200 && data["sub"].string == ada.uid, "\(data.status) \(data.text)")
            }

            let signedOut = try await blitz.post(
                blitz.endpoints.logout,
                [
                    "id_token_hint": tokens["id_token"].string ?? "", "state": "s",
                    "post_logout_redirect_uri": "https://photos.example/bye",
                ], isAuthenticated: false, headers: ["cookie": cookie])
            #expect(signedOut.status == 303, "\(signedOut.status) \(signedOut.text)")
            #expect(signedOut.headers.first(name: "location") == "https://photos.example/bye?state=s")
            #expect(try await blitz.userInfo(access).status == 401)
        }
    }

    @Test func `the metadata names nothing but its own places`() async throws {
        try await with { server in
            let client = APIClient(server)
            let answer = try await client.send(.GET, "/blitz/.well-known/openid-configuration")
            #expect(answer.status == 200)
            #expect(answer.headers.first(name: "cache-control") == "public, max-age=300")
            #expect(answer.headers.first(name: "access-control-allow-origin") == "*")
            for (name, path) in [
                ("issuer", ""), ("authorization_endpoint", "/oauth/ae"), ("token_endpoint", "/oauth/te"),
                ("userinfo_endpoint", "/oauth/me"), ("registration_endpoint", "/oauth/register"),
                ("introspection_endpoint", "/oauth/introspect"), ("revocation_endpoint", "/oauth/revoke"),
                ("end_session_endpoint", "/oauth/logout"), ("jwks_uri", "/.well-known/jwks.json"),
                ("pushed_authorization_request_endpoint", "/oauth/par"),
            ] {
                #expect(answer[name].string == Self.issuer + path, "\(name): \(answer[name])")
            }
            let scopes = Set(answer["scopes_supported"].array?.compactMap(\.string) ?? [])
            #expect(scopes.isSuperset(of: ["openid", "profile", "native", "blitz_qr_auth"]) && !scopes.contains("qr"))
            for url in answer.json.object?.values.compactMap(\.string) ?? [] where url.hasPrefix(PageBrowser.issuer) {
                #expect(url == Self.issuer || url.hasPrefix(Self.issuer + "/"), "\(url)")
            }
            for path in [
                "/blitz/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/blitz",
            ] {
                #expect(try await client.send(.GET, path).body == answer.body, "\(path)")
            }
            let plain = try await client.send(.GET, "/.well-known/openid-configuration")
            #expect(plain["issuer"].string == PageBrowser.issuer && !plain.text.contains("/blitz"))
            #expect(plain["scopes_supported"].array?.contains("qr") == true)
            #expect(plain["scopes_supported"].array?.contains("blitz_qr_auth") == false)
            let keys = try await client.send(.GET, "/blitz/.well-known/jwks.json")
            #expect(try await client.send(.GET, "/.well-known/jwks.json").body == keys.body && keys.status == 200)
        }
    }

    @Test func `an application with a path in its issuer has its metadata at the inserted place`() async throws {
        let photos = TestServer.photos + "\n    openid: { paths: [blitz] }"
        try await TestServer.with(application: RelyingParty.configuration, others: photos) { server in
            let client = APIClient(server)
            let issuer = PageBrowser.issuer + "/apps/photos/blitz"
            for path in [
                "/apps/photos/blitz/.well-known/openid-configuration",
                "/.well-known/oauth-authorization-server/apps/photos/blitz",
            ] {
                let answer = try await client.send(.GET, path)
                #expect(answer["issuer"].string == issuer, "\(path): \(answer.status) \(answer.text)")
                #expect(answer["token_endpoint"].string == issuer + "/oauth/te")
            }
            #expect(try await client.send(.GET, "/.well-known/oauth-authorization-server/blitz").status == 404)
        }
    }

    // MARK: - What belongs to one name

    @Test func `answers and tokens carry the name where the request began`() async throws {
        try await with { server in
            let (plain, blitz) = Self.parties(server)
            let cookie = try await plain.browser(of: plain.api.register(at: server))
            for (party, issuer) in [(plain, PageBrowser.issuer), (blitz, Self.issuer)] {
                let answer = try await party.authorize(["scope": "openid offline_access"], cookie: cookie)
                #expect(answer.returned("iss") == issuer)
                let tokens = try await party.redeem(answer.returned("code") ?? "")
                #expect(try DecodedToken(tokens["id_token"].string ?? "").claims["iss"].string == issuer)
                let access = try DecodedToken(tokens["access_token"].string ?? "").claims
                #expect(access["iss"].string == issuer && access["aud"].array == [.string(issuer)], "\(access)")
                let refused = try await party.authorize(["prompt": "none"], cookie: nil)
                #expect(refused.returned("error") == "login_required" && refused.returned("iss") == issuer)
                let refreshed = try await party.refresh(tokens["refresh_token"].string ?? "")
                #expect(try DecodedToken(refreshed["id_token"].string ?? "").claims["iss"].string == issuer)
            }
        }
    }

    @Test func `a request that pages answer ends under the name where it began`() async throws {
        try await with { server in
            let (_, blitz) = Self.parties(server)
            let ada = try await blitz.api.register(at: server)
            var browser = PageBrowser(server)
            let asked = try await browser.begin(blitz)
            #expect(asked.step == "signin" && asked.path.hasPrefix("/signin/"))
            var leaving = browser
            let cancelled = try await leaving.open(asked.path + "/cancel")
            #expect(cancelled.returnedError == "access_denied" && cancelled.returned("iss") == Self.issuer)

            let again = try await browser.begin(blitz)
            let ended = try await browser.signIn(ada, at: again)
            #expect(ended.returned("iss") == Self.issuer, "\(ended.text)")
            let tokens = try await blitz.redeem(ended.code ?? "")
            #expect(try DecodedToken(tokens["id_token"].string ?? "").claims["iss"].string == Self.issuer)

            let posted = try await browser.begin(blitz, ["response_mode": "form_post"])
            #expect(posted.text.contains("name=\"iss\" value=\"\(Self.issuer)\""), "\(posted.text)")
        }
    }

    @Test func `codes and refresh tokens of one name are refused under the other`() async throws {
        try await with { server in
            let (plain, blitz) = Self.parties(server)
            let cookie = try await plain.browser(of: plain.api.register(at: server))
            for (own, other) in [(plain, blitz), (blitz, plain)] {
                let code = try await own.code(["scope": "openid offline_access"], cookie: cookie)
                #expect(try await other.redeem(code).isOAuthError(400, "invalid_grant"))
                #expect(try await own.redeem(code).isOAuthError(400, "invalid_grant"), "the code is used up")

                let good = try await own.code(["scope": "openid offline_access"], cookie: cookie)
                let refresh = try await own.redeem(good)["refresh_token"].string ?? ""
                #expect(try await other.refresh(refresh).isOAuthError(400, "invalid_grant"))
                let next = try await own.refresh(refresh)
                #expect(next.status == 200, "nothing has changed: \(next.text)")
                #expect(try await !other.isActive(next["refresh_token"].string ?? ""))
                #expect(try await own.isActive(next["refresh_token"].string ?? ""))
                #expect(
                    try await other.post(
                        other.endpoints.revocation,
                        [
                            "token": next["refresh_token"].string ?? ""
                        ]
                    ).status == 200)
                #expect(try await own.refresh(next["refresh_token"].string ?? "").status == 200)

                let pushed = try await own.post(own.endpoints.push, own.parameters())
                let uri = try #require(pushed["request_uri"].string, "\(pushed.text)").formEncoded
                let brought = try await other.api.send(
                    .GET, "\(other.endpoints.authorization)?client_id=web&request_uri=\(uri)",
                    headers: ["cookie": cookie])
                #expect(brought.status == 400 && brought.text.contains("data-error=\"invalid_request_uri\""))
            }
        }
    }

    @Test func `an instance is good only under the name where it was registered`() async throws {
        try await with { server in
            let app = BlitzApp(server)
            let instance = try await app.register()
            #expect(instance.grantTypes == ["authorization_code"])
            #expect(instance.registrationClientUri == "\(Self.issuer)/oauth/register/\(instance.clientId)")
            let bearer = ["authorization": "Bearer \(instance.registrationAccessToken)"] as HTTPHeaders
            let path = "/oauth/register/\(instance.clientId)"
            for method in [HTTPMethod.GET, .DELETE] {
                #expect(try await APIClient(server).send(method, path, headers: bearer).status == 401, "\(method)")
            }
            let read = try await APIClient(server).send(.GET, "/blitz" + path, headers: bearer)
            #expect(read.status == 200 && read["client_secret"] == .null, "\(read.text)")
            #expect(read["registration_client_uri"].string == instance.registrationClientUri)
            #expect(read["grant_types"].array == ["authorization_code"])

            var plain = RelyingParty(server)
            (plain.client, plain.secret, plain.redirectURI) = (
                instance.clientId, instance.clientSecret, BlitzApp.privateURI
            )
            let token = try await plain.post("/oauth/token", ["grant_type": "client_credentials"])
            #expect(token.isOAuthError(401, "invalid_client"), "\(token.text)")
            let asked = try await plain.authorize(cookie: nil)
            #expect(asked.status == 400 && asked.text.contains("data-error=\"invalid_client\""))
            #expect(try await app.relogin(instance, scope: "profile").text.contains("unauthorized_client"))
        }
    }

    // MARK: - What both names share

    @Test func `the browser's session, userinfo, introspection and the API take both names`() async throws {
        try await with { server in
            let (plain, blitz) = Self.parties(server)
            let ada = try await plain.api.register(at: server)
            let cookie = try await plain.browser(of: ada)
            for (own, other) in [(plain, blitz), (blitz, plain)] {
                let tokens = try await own.redeem(own.code(cookie: cookie))
                let access = tokens["access_token"].string ?? ""
                for party in [own, other] {
                    #expect(try await party.userInfo(access)["sub"].string == ada.uid)
                    #expect(try await party.isActive(access))
                }
                let hint = ["id_token_hint": tokens["id_token"].string ?? "", "prompt": "none"]
                #expect(try await own.authorize(hint, cookie: cookie).returned("code") != nil)
            }
            let app = BlitzApp(server)
            let (instance, _, _) = try await app.signIn(ada)
            let token = try await app.relogin(instance, scope: "account").decoded(BlitzApp.ReloginTokens.self)
            let me = try await plain.api.get("/auth/me", bearer: token.accessToken)
            #expect(me["id"].string == ada.uid, "\(me.status) \(me.text)")
        }
    }

    @Test func `an access token is revoked under either name`() async throws {
        try await with { server in
            let (plain, blitz) = Self.parties(server)
            let cookie = try await plain.browser(of: plain.api.register(at: server))
            for (own, other) in [(plain, blitz), (blitz, plain)] {
                let tokens = try await own.redeem(own.code(["scope": "openid offline_access"], cookie: cookie))
                let access = tokens["access_token"].string ?? ""
                #expect(try await other.post(other.endpoints.revocation, ["token": access]).status == 200)
                #expect(try await own.userInfo(access).isOAuthError(401, "invalid_token"))
                #expect(
                    try await own.refresh(tokens["refresh_token"].string ?? "").isOAuthError(400, "invalid_grant"))
            }
        }
    }

    @Test func `a sign-out under either name ends what was opened under both`() async throws {
        try await with { server in
            let (plain, blitz) = Self.parties(server)
            let cookie = try await plain.browser(of: plain.api.register(at: server))
            let tokens = try await plain.redeem(plain.code(cookie: cookie))["access_token"].string ?? ""
            let begun = try await blitz.redeem(blitz.code(cookie: cookie))
            let answer = try await blitz.logout(
                [
                    "id_token_hint": begun["id_token"].string ?? "",
                    "post_logout_redirect_uri": "https://photos.example/bye", "state": "s",
                ], cookie: cookie)
            #expect(answer.headers.first(name: "location") == "https://photos.example/bye?state=s", "\(answer.text)")
            #expect(try await !plain.isActive(tokens))
            #expect(try await !blitz.isActive(begun["access_token"].string ?? ""))
            #expect(try await blitz.authorize(["prompt": "none"], cookie: cookie).returned("error") == "login_required")
        }
    }

    @Test func `the profile and the page behind a QR code are the account's pages`() async throws {
        try await with { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let asked = try await browser.open("/blitz/profile")
            #expect(asked.step == "signin")
            let account = try await browser.signIn(ada, at: asked)
            #expect(account.step == "account" && account.text.contains(ada.email))
            let profile = try await browser.open("/blitz/profile")
            #expect(profile.status == 200 && profile.step == "account" && profile.text.contains(ada.email))
            let code = UUID().uuidString.lowercased()
            let qr = try await browser.open("/blitz/login/qr?code=\(code)")
            #expect(qr.status == 200 && qr.step == "qr-open", "\(qr.status) \(qr.text)")
        }
    }

    @Test func `a browser at another origin is sent to the same path of the issuer`() async throws {
        try await with { server in
            var party = RelyingParty(server)
            (party.endpoints, party.api.host) = (.blitz, "elsewhere.example")
            let answer = try await party.authorize(cookie: nil)
            let place = try #require(answer.headers.first(name: "location"))
            #expect(answer.status == 303 && place.hasPrefix("\(Self.issuer)/oauth/ae?"), "\(place)")
        }
    }
}

extension PageBrowser.View {
    fileprivate func returned(_ name: String) -> String? {
        target.flatMap { URLComponents(string: $0) }?.query(name)
    }
}
