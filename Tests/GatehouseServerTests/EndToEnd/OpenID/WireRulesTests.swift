import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// What all OpenID endpoints have in common: origins, bounds and the form of errors.
struct WireRulesTests {
    @Test func `another origin leads to the issuer's, and REST is served at both`() async throws {
        let photos = """
              photos:
                publicURL: "http://photos.example:8080"
                hosts: [photos.example]
                audience: photos-app
                tokens: { algorithm: ES256 }
                providers: { anonymous: { enabled: true } }
                openid: { clients: { app: { name: App, public: true, redirectURIs: ["https://app.example/cb"] } } }
            """
        try await TestServer.with(others: photos) { server in
            let there: HTTPHeaders = ["host": "photos.example:8080"]
            let api = APIClient(server)
            for path in ["/oauth/authorize?client_id=app&a=b%20c", "/oauth/logout?state=s"] {
                let away = try await api.send(.GET, "/apps/photos" + path)
                #expect(away.status == 303)
                #expect(away.headers.first(name: "location") == "http://photos.example:8080" + path)
                #expect(try await api.send(.GET, path, headers: ["host": "photos.example"]).status == 303)
                #expect(try await api.send(.GET, path, headers: there).status != 303)
                let form: HTTPHeaders = ["content-type": "application/x-www-form-urlencoded"]
                let posted = try await api.send(
                    .POST, "/apps/photos" + path.prefix { $0 != "?" }, raw: Array("client_id=app".utf8), headers: form)
                #expect(posted.status == 400 && posted.headers.first(name: "location") == nil)
            }
            let metadata = try await api.send(.GET, "/.well-known/openid-configuration", headers: there)
            #expect(metadata["issuer"] == "http://photos.example:8080")
            let guest = try await api.send(
                .POST, "/apps/photos/api/v1/auth/anonymous", raw: Array("{}".utf8))
            let token = guest["accessToken"].string ?? guest["access_token"].string ?? ""
            #expect(try DecodedToken(token).claims["iss"] == "http://photos.example:8080")
            #expect(try await api.send(.GET, "/apps/photos/api/v1/auth/me", bearer: token).status == 200)
            let me = try await api.send(.GET, "/api/v1/auth/me", bearer: token, headers: there)
            #expect(me.status == 200)
        }
    }

    @Test func `long URLs, unknown paths and applications without a provider`() async throws {
        try await TestServer.with(application: RelyingParty.configuration, others: TestServer.photos) { server in
            let api = APIClient(server)
            let long = String(repeating: "a", count: 8192)
            for path in ["/oauth/authorize?state=\(long)", "/oauth/userinfo?a=\(long)", "/oauth/\(long)"] {
                #expect(try await api.send(.GET, path).status == 414, "\(path.prefix(20))")
            }
            for path in ["/api/v1/auth/providers", "/apps/photos/api/v1/auth/providers"] {
                #expect(try await api.send(.GET, "\(path)?a=\(long)").status == 200, "\(path)")
            }
            let token = try await api.send(.GET, "/oauth/userinfo?a=\(long)")
            #expect(token.isOAuthError(414, "invalid_request"))
            expectError(try await api.send(.GET, "/oauth/nothing"), 404, "NOT_FOUND")
            let page = try await api.send(.GET, "/oauth/nothing", headers: ["accept": "text/html"])
            #expect(page.status == 404 && page.text.contains("data-error=\"not_found\""))
            expectError(
                try await api.send(.GET, "/api/v1/nothing", headers: ["accept": "text/html"]), 404, "NOT_FOUND")
            for path in ["authorize", "logout", "userinfo", "token", "introspect"] {
                expectError(try await api.send(.GET, "/apps/photos/oauth/\(path)"), 404, "NOT_FOUND")
            }
            for path in ["token", "introspect", "revoke", "par"] {
                for type in ["application/x-www-form-urlencoded", "text/plain"] {
                    let answer = try await api.send(
                        .POST, "/apps/photos/oauth/\(path)", raw: Array("a=b".utf8), headers: ["content-type": type])
                    expectError(answer, 404, "NOT_FOUND")
                }
            }
            expectError(try await api.send(.GET, "/apps/photos/api/v1/auth/grants"), 404, "NOT_FOUND")
        }
    }

    @Test func `a bearer is sent in one way, and never in the URL`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let token = try await party.redeem(party.code(cookie: cookie))["access_token"].string ?? ""
            func post(_ body: String, query: String = "", bearer: String? = nil) async throws -> APIClient.Answer {
                var headers: HTTPHeaders = ["content-type": "application/x-www-form-urlencoded"]
                if let bearer { headers.add(name: "authorization", value: "Bearer \(bearer)") }
                return try await party.api.send(
                    .POST, "/oauth/userinfo\(query)", raw: Array(body.utf8), headers: headers)
            }
            let inForm = "access_token=\(token)"
            #expect(try await post(inForm).status == 200)
            #expect(try await post("", bearer: token).status == 200)
            for answer in [
                try await post("\(inForm)&\(inForm)"), try await post(inForm, bearer: token),
                try await post("", query: "?\(inForm)"), try await post("", query: "?\(inForm)", bearer: token),
                try await party.api.send(.GET, "/oauth/userinfo?\(inForm)"),
            ] { #expect(answer.isOAuthError(400, "invalid_request"), "\(answer.text)") }
        }
    }

    @Test func `pages of every origin may call what reads no cookie, and no page the rest`() async throws {
        try await TestServer.with(application: RelyingParty.configuration, others: TestServer.photos) { server in
            let api = APIClient(server)
            func allowed(_ method: HTTPMethod, _ path: String, from origin: String) async throws -> String? {
                var headers: HTTPHeaders = ["origin": origin]
                if method == .OPTIONS { headers.add(name: "access-control-request-method", value: "POST") }
                return try await api.send(method, path, headers: headers).headers.first(
                    name: "access-control-allow-origin")
            }
            for origin in ["http://localhost:3000", "https://evil.example"] {
                for method in [HTTPMethod.OPTIONS, .GET] {
                    for path in [
                        "/oauth/token", "/oauth/userinfo", "/oauth/revoke", "/oauth/par", "/.well-known/jwks.json",
                        "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server",
                        "/.well-known/oauth-authorization-server/apps/demo",
                    ] { #expect(try await allowed(method, path, from: origin) == "*", "\(method) \(path)") }
                    for path in [
                        "/oauth/authorize", "/oauth/logout", "/oauth/introspect", "/signin/x", "/signin/x/cancel",
                    ] {
                        #expect(try await allowed(method, path, from: origin) == nil, "\(method) \(path)")
                    }
                }
            }
            // An application without a provider has none of these paths.
            for path in ["/oauth/token", "/oauth/introspect", "/.well-known/openid-configuration"] {
                let preflight: HTTPHeaders = [
                    "origin": "https://evil.example", "access-control-request-method": "POST",
                ]
                let answer = try await api.send(.OPTIONS, "/apps/photos\(path)", headers: preflight)
                #expect(answer.status == 404 && answer.headers.first(name: "access-control-allow-origin") == nil)
            }
        }
    }

    @Test func `plain HTTP is refused in the form of the endpoint`() async throws {
        try await TestServer.with(
            server: "trustedProxies: [\"127.0.0.1/32\"]", application: RelyingParty.configuration
        ) { server in
            let api = APIClient(server)
            for path in ["/oauth/token", "/apps/demo/oauth/token"] {
                let answer = try await api.send(
                    .POST, path, raw: [], headers: ["content-type": "application/x-www-form-urlencoded"])
                #expect(answer.isOAuthError(400, "invalid_request"), "\(answer.text)")
            }
            expectError(try await api.get("/auth/me"), 400, "HTTPS_REQUIRED")
        }
    }

    @Test func `a token with the scope account is a bearer of the API, others are not`() async throws {
        let configuration = RelyingParty.configuration
            .replacing("phone, offline_access", with: "account, offline_access")
        try await TestServer.with(application: configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            let tokens = try await party.redeem(party.code(["scope": "openid account offline_access"], cookie: cookie))
            let access = tokens["access_token"].string ?? ""
            let claims = try DecodedToken(access).claims
            #expect(claims["aud"] == ["http://127.0.0.1:1", "demo"] && claims["uid"].string == person.uid)
            #expect(claims["provider"] == "email" && claims["email_verified"] == true)
            let me = try await party.api.get("/auth/me", bearer: access)
            #expect(me.status == 200 && me["id"].string == person.uid)
            let current = try await party.api.get("/auth/sessions", bearer: access)["sessions"].array?
                .first { $0["current"] == true }
            #expect(current?["kind"] == "client" && current?["id"] == claims["sid"])
            let narrow = try await party.refresh(tokens["refresh_token"].string ?? "", ["scope": "openid"])
            expectError(
                try await party.api.get("/auth/me", bearer: narrow["access_token"].string ?? ""), 403,
                "INSUFFICIENT_SCOPE")
            #expect(try await party.api.post("/auth/logout", [:], bearer: access).status == 204)
            expectError(try await party.api.get("/auth/me", bearer: access), 401, "INVALID_TOKEN")
        }
    }

    @Test func `a guest who becomes permanent by a client's token keeps that client and the browser`() async throws {
        let configuration = RelyingParty.configuration
            .replacing("phone, offline_access", with: "account, offline_access")
            .replacing("name: Photos\n", with: "name: Photos\n      guests: true\n")
        try await TestServer.with(application: configuration, providers: "scripted: {}") { server in
            let party = RelyingParty(server)
            let guest = try await party.api.guest()
            let cookie = try await party.browser(of: guest)
            let tokens = try await party.redeem(party.code(["scope": "openid account offline_access"], cookie: cookie))
            let access = tokens["access_token"].string ?? ""
            let linked = try await party.api.link(.somebody(), bearer: access)
            #expect(linked["user"]["id"].string == guest.uid, "\(linked.text)")

            expectError(try await party.api.get("/auth/me", bearer: access), 401, "INVALID_TOKEN")
            let own = try await party.api.refresh(linked["refreshToken"].string ?? "")
            #expect(own.status == 200, "\(own.text)")
            let renewed = try await party.refresh(tokens["refresh_token"].string ?? "")
            let me = try await party.api.get("/auth/me", bearer: renewed["access_token"].string ?? "")
            #expect(me["authProviders"] == ["scripted"], "\(renewed.text) \(me.text)")
            let again = try await party.redeem(party.code(["scope": "openid"], cookie: cookie))
            #expect(again.status == 200, "\(again.text)")
        }
    }

    @Test func `a client that refreshes while its guest becomes permanent stays signed in`() async throws {
        let configuration = RelyingParty.configuration
            .replacing("phone, offline_access", with: "account, offline_access")
            .replacing("name: Photos\n", with: "name: Photos\n      guests: true\n")
        try await TestServer.with(application: configuration, providers: "scripted: {}") { server in
            let party = RelyingParty(server)
            for _ in 1...8 {
                let guest = try await party.api.guest()
                let cookie = try await party.browser(of: guest)
                let code = try await party.code(["scope": "openid account offline_access"], cookie: cookie)
                let tokens = try await party.redeem(code)
                async let linked = party.api.link(.somebody(), bearer: tokens["access_token"].string ?? "")
                async let refreshed = party.refresh(tokens["refresh_token"].string ?? "")
                let (link, refresh) = try await (linked, refreshed)
                #expect(link.status == 200, "\(link.text)")
                let next = try await party.refresh(refresh["refresh_token"].string ?? "")
                #expect(next.status == 200, "\(refresh.text) \(next.text)")
            }
        }
    }

    @Test func `a client that inspects the API's audience sees its tokens`() async throws {
        let configuration = RelyingParty.configuration.replacing(
            "introspects: [", with: "introspects: [demo, ")
        try await TestServer.with(application: configuration) { server in
            var jobs = RelyingParty(server)
            jobs.client = "jobs"
            let person = try await jobs.api.register(at: server)
            let answer = try await jobs.post("/oauth/introspect", ["token": person.accessToken])
            #expect(answer["active"] == true && answer["sub"].string == person.uid && answer["aud"] == "demo")
            #expect(answer["token_type"] == "Bearer")
            #expect(try await !RelyingParty(server).isActive(person.accessToken))
            _ = try await jobs.api.post("/auth/logout", [:], bearer: person.accessToken)
            #expect(try await !jobs.isActive(person.accessToken))
        }
    }

    @Test func `a refreshed ID token has the claims that the request named`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            let named = #"{"id_token":{"email":null}}"#
            let tokens = try await party.redeem(
                party.code(["scope": "openid offline_access", "claims": named], cookie: cookie))
            let first = try DecodedToken(tokens["id_token"].string ?? "").claims
            #expect(first["email"].string != nil)
            let next = try await party.refresh(tokens["refresh_token"].string ?? "")
            #expect(try DecodedToken(next["id_token"].string ?? "").claims["email"] == first["email"])
            let last = try await party.refresh(next["refresh_token"].string ?? "")
            #expect(try DecodedToken(last["id_token"].string ?? "").claims["email"] == first["email"])
        }
    }
}
