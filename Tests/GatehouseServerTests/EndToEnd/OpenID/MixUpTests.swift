import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// What is presented in the wrong place: at another application, as another parameter, or instead of another token.
struct MixUpTests {
    /// An application with the same clients and secrets as `demo`.
    private static let twin = """
          twin:
            audience: twin
            tokens: { algorithm: ES256 }
            providers: { email: { enabled: true, verificationLink: "https://twin.example/verify" } }
            \(RelyingParty.configuration.replacing("\n", with: "\n    "))
        """

    @Test func `nothing of one application is good at another with the same clients`() async throws {
        try await TestServer.with(application: RelyingParty.configuration, others: Self.twin) { server in
            let party = RelyingParty(server)
            let twin = RelyingParty(server, application: "twin")
            let cookie = try await party.browser(of: party.api.register(at: server))
            let scope = ["scope": "openid offline_access"]

            let answer = try await party.authorize(scope, cookie: cookie)
            #expect(answer.returned("iss") == "http://127.0.0.1:1")
            let stolen = try #require(answer.returned("code"))
            #expect(try await twin.redeem(stolen).isOAuthError(400, "invalid_grant"))
            let tokens = try await party.redeem(stolen)
            #expect(tokens.status == 200, "the other application has used nothing up: \(tokens.text)")

            let (access, refresh) = (tokens["access_token"].string ?? "", tokens["refresh_token"].string ?? "")
            #expect(try await twin.userInfo(access).isOAuthError(401, "invalid_token"))
            #expect(try await twin.refresh(refresh).isOAuthError(400, "invalid_grant"))
            for token in [access, refresh] {
                #expect(try await !twin.isActive(token))
                #expect(try await twin.post("/oauth/revoke", ["token": token]).status == 200)
            }
            #expect(try await party.userInfo(access).status == 200, "the other application has revoked nothing")

            for planted in [cookie, cookie.replacing("sso-demo", with: "sso-twin")] {
                let silent = try await twin.authorize(["prompt": "none"], cookie: planted)
                #expect(silent.returned("error") == "login_required")
                #expect(silent.returned("iss") == "http://127.0.0.1:1/apps/twin")
            }
            let hinted = try await twin.authorize(["id_token_hint": tokens["id_token"].string ?? ""], cookie: nil)
            #expect(hinted.returned("code") == nil)

            let pushed = try await party.post("/oauth/par", party.parameters())
            let uri = try #require(pushed["request_uri"].string, "\(pushed.text)")
            let path = "/oauth/authorize?client_id=web&request_uri=\(uri.formEncoded)"
            let brought = try await twin.api.send(.GET, path)
            #expect(brought.status == 400 && brought.text.contains("data-error=\"invalid_request_uri\""))
            #expect(try await party.api.send(.GET, path, headers: ["cookie": cookie]).returned("code") != nil)

            func keys(_ party: RelyingParty) async throws -> Set<JSONValue> {
                Set(try await party.api.send(.GET, "/.well-known/jwks.json")["keys"].array?.map { $0["kid"] } ?? [])
            }
            #expect(try await keys(party).isDisjoint(with: keys(twin)))
        }
    }

    private static let otherURIs = [
        "https://photos.example/CB", "https://Photos.example/cb", "https://photos.example:443/cb",
        "https://photos.example:8443/cb", "https://photos.example/cb/", "https://photos.example/cb/..",
        "https://photos.example/x/../cb", "https://photos.example/x/..;/cb", "https://photos.example/./cb",
        "https://photos.example/%63b", "https://photos.example/%2e/cb", "https://photos.example%2fcb",
        "https://photos.example/cb\\", "https://photos.example\\@evil.example/cb", "https://evil.example\\/cb",
        "https://photos.example@evil.example/cb", "https://ada@photos.example/cb", "https://ada:x@photos.example/cb",
        "https://photos.example/cb?", "https://photos.example/cb?next=1", "https://photos.example/cb#x",
        "https://photos.example/cb#", "https://evil.photos.example/cb", "https://photos.example.evil.example/cb",
        "http://photos.example/cb", "//photos.example/cb", "/cb", "https://photos.example/cb ",
        " https://photos.example/cb", "https://photos.example/cb\n", "https://photos.example/cb,https://evil.example",
        "javascript:alert(1)", "data:text/html,x", "https://photos.example/c\u{0431}", "",
    ]

    @Test func `a redirect URI of other bytes leads nowhere`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            for uri in Self.otherURIs {
                for isForm in [false, true] {
                    let answer = try await party.authorize(["redirect_uri": uri], cookie: cookie, isForm: isForm)
                    #expect(answer.status == 400 && answer.headers.first(name: "location") == nil, "\(uri)")
                    #expect(answer.text.contains("data-error=\"invalid_redirect_uri\""), "\(uri): \(answer.text)")
                    #expect(uri.count < 5 || !answer.text.contains(uri), "the page repeats \(uri)")
                }
                let pushed = try await party.post("/oauth/par", party.parameters(["redirect_uri": uri]))
                #expect(pushed.isOAuthError(400, "invalid_request"), "\(uri): \(pushed.text)")
            }
            #expect(try await server.count("SELECT count(*) FROM authorization_requests") == 0)
        }
    }

    @Test func `a parameter that comes twice is refused wherever it stands`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let query = RelyingParty.encoded(party.parameters())
            func get(_ query: String) async throws -> APIClient.Answer {
                try await party.api.send(.GET, "/oauth/authorize?" + query, headers: ["cookie": cookie])
            }
            for name in ["scope", "response_type", "nonce", "code_challenge", "prompt", "state"] {
                let answer = try await get("\(query)&\(name)=x&\(name)=x")
                #expect(answer.returned("error") == "invalid_request" && answer.returned("code") == nil, "\(name)")
            }
            for (name, error) in [("client_id", "invalid_client"), ("redirect_uri", "invalid_redirect_uri")] {
                let answer = try await get("\(query)&\(name)=https%3A%2F%2Fevil.example")
                #expect(answer.status == 400 && answer.headers.first(name: "location") == nil, "\(name)")
                #expect(answer.text.contains("data-error=\"\(error)\""), "\(name)")
            }
            // Names in other frameworks' notations are names that no rule reads.
            for name in ["scope%5B%5D", "redirect_uri%5B0%5D", "client_id.x"] {
                #expect(try await get("\(query)&\(name)=x").returned("code") != nil, "\(name)")
            }
            for bytes in ["%00", "%C0%AF", "%ED%A0%80", "%FF"] {
                let answer = try await get(query.replacing("state=", with: "state=\(bytes)"))
                #expect(answer.status == 400 && answer.text.contains("data-error=\"invalid_request\""), "\(bytes)")
            }
            let both = try await party.api.send(
                .POST, "/oauth/authorize?client_id=web", raw: Array(query.utf8),
                headers: ["content-type": "application/x-www-form-urlencoded", "cookie": cookie])
            #expect(both.status == 400 && both.headers.first(name: "location") == nil, "\(both.status)")
        }
    }

    @Test func `the token endpoint reads each parameter once, and in the body`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let code = try await party.code(cookie: cookie)
            let form = [
                "grant_type": "authorization_code", "code": code, "redirect_uri": party.redirectURI,
                "code_verifier": RelyingParty.verifier, "client_id": "web", "client_secret": RelyingParty.secret,
            ]
            func post(_ query: String, _ body: String) async throws -> APIClient.Answer {
                try await party.api.send(
                    .POST, "/oauth/token" + query, raw: Array(body.utf8),
                    headers: ["content-type": "application/x-www-form-urlencoded"])
            }
            let body = RelyingParty.encoded(form)
            for name in form.keys {
                #expect(try await post("", "\(body)&\(name)=x").isOAuthError(400, "invalid_request"), "\(name) twice")
                let inURL = RelyingParty.encoded([name: form[name] ?? ""])
                let answer = try await post("?\(inURL)", RelyingParty.encoded(form.filter { $0.key != name }))
                #expect(answer.status >= 400, "\(name) in the URL: \(answer.text)")
            }
            // A code that an unauthenticated request only mentions is still good.
            let fresh = try await party.code(cookie: cookie)
            #expect(try await party.redeem(fresh).status == 200)
        }
    }

    @Test func `a secret of one kind is nothing in the place of another`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            let tokens = try await party.redeem(
                try await party.code(["scope": "openid offline_access"], cookie: cookie))
            let (access, refresh) = (tokens["access_token"].string ?? "", tokens["refresh_token"].string ?? "")
            let identity = tokens["id_token"].string ?? ""
            let code = try await party.code(cookie: cookie)
            let browser = String(cookie.split(separator: "=", maxSplits: 1)[1])

            for bearer in [refresh, identity, code, browser, person.accessToken, person.refreshToken] {
                #expect(try await party.userInfo(bearer).status >= 400)
                #expect(try await party.userInfo(bearer)["sub"] == .null)
            }
            for bearer in [refresh, identity, code, browser] {
                expectError(try await party.api.get("/auth/me", bearer: bearer), 401, "INVALID_TOKEN")
            }
            expectError(try await party.api.get("/auth/me", bearer: access), 403, "INSUFFICIENT_SCOPE")
            for text in [access, identity, refresh, browser, person.refreshToken] {
                #expect(try await party.redeem(text).isOAuthError(400, "invalid_grant"))
            }
            for text in [access, identity, code, browser, person.refreshToken] {
                #expect(try await party.refresh(text).isOAuthError(400, "invalid_grant"))
            }
            for text in [refresh, code, person.refreshToken, access] {
                let silent = try await party.authorize(["prompt": "none"], cookie: "gatehouse-sso-demo=\(text)")
                #expect(silent.returned("error") == "login_required")
            }
            for hint in [access, refresh] {
                #expect(
                    try await party.authorize(["id_token_hint": hint], cookie: cookie).returned("error")
                        == "invalid_request")
            }
            for uri in [code, refresh].map({ "urn:ietf:params:oauth:request_uri:" + $0 }) {
                let path = "/oauth/authorize?client_id=web&request_uri=\(uri.formEncoded)"
                #expect(try await party.api.send(.GET, path, headers: ["cookie": cookie]).status == 400)
            }
            // What was presented in the wrong place is still good in the right one.
            #expect(try await party.redeem(code).status == 200)
            #expect(try await party.refresh(refresh).status == 200)
        }
    }

    @Test func `the hint of one client is refused at another`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            var loose = party
            loose.client = "loose"
            let cookie = try await party.browser(of: party.api.register(at: server))
            let token = try await party.redeem(try await party.code(cookie: cookie))["id_token"].string ?? ""
            #expect(try await party.authorize(["id_token_hint": token], cookie: cookie).returned("code") != nil)
            let other = try await loose.authorize(["id_token_hint": token], cookie: cookie)
            #expect(other.returned("error") == "invalid_request")
        }
    }
}
