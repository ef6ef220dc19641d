import Accounts
import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// What is presented in the wrong place: at another application, as another parameter, or instead of another token.
struct MixUpTests {
    /// An application with the same clients and secrets as `demo`.
    private static let twin = """
          twin:
            hosts: [twin.example]
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
            var atHost = party
            atHost.api.host = "twin.example"
            let others = [twin, atHost]
            for twin in others { #expect(try await twin.redeem(stolen).isOAuthError(400, "invalid_grant")) }
            let tokens = try await party.redeem(stolen)
            #expect(tokens.status == 200, "the other application has used nothing up: \(tokens.text)")

            let (access, refresh) = (tokens["access_token"].string ?? "", tokens["refresh_token"].string ?? "")
            for twin in others {
                #expect(try await twin.userInfo(access).isOAuthError(401, "invalid_token"))
                #expect(try await twin.refresh(refresh).isOAuthError(400, "invalid_grant"))
                for token in [access, refresh] {
                    #expect(try await !twin.isActive(token))
                    #expect(try await twin.post("/oauth/revoke", ["token": token]).status == 200)
                }
            }
            let away = try await atHost.authorize(["prompt": "none"], cookie: cookie)
            #expect(away.headers.first(name: "location")?.hasPrefix("http://127.0.0.1:1/apps/twin/oauth/") == true)
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

    @Test func `an app on loopback is answered at any port, and nowhere else`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty.native(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            for (uri, isRegistered) in [
                ("http://127.0.0.1:49152/cb", true), ("http://127.0.0.1:1/cb", true), ("http://127.0.0.1/cb", true),
                ("http://127.0.0.1:0/cb", false), ("http://127.0.0.1:65536/cb", false), ("http://127.0.0.1:/cb", false),
                ("http://127.0.0.1:080/cb", false), ("http://127.0.0.1:80@evil.example/cb", false),
                ("http://127.0.0.1:80/cb/x", false), ("https://127.0.0.1:80/cb", false), ("http://[::1]:80/cb", false),
                ("http://localhost:80/cb", false), ("http://127.0.0.1.evil.example/cb", false),
                ("http://127.1:80/cb", false), ("COM.example.app:/cb", false), ("com.example.app:/cb/x", false),
                ("com.example.app://cb", false),
            ] {
                let answer = try await party.authorize(["redirect_uri": uri, "prompt": "none"], cookie: cookie)
                let location = answer.headers.first(name: "location")
                #expect(
                    location?.hasPrefix(uri + "?error=interaction_required&") == (isRegistered ? true : nil), "\(uri)")
                #expect(isRegistered || answer.text.contains("data-error=\"invalid_redirect_uri\""), "\(uri)")
            }
        }
    }

    @Test func `malformed and doubled parameters are refused at every endpoint`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let (_, tokens) = try await party.signedIn()
            let access = tokens["access_token"].string ?? ""
            let client = RelyingParty.encoded(["client_id": "web", "client_secret": RelyingParty.secret])
            let request = RelyingParty.encoded(party.parameters().filter { $0.key != "client_id" })
            for (path, body) in [
                ("par", "\(client)&\(request)"), ("token", "\(client)&grant_type=refresh_token&refresh_token=x"),
                ("introspect", "\(client)&token=x"), ("revoke", "\(client)&token=x"),
                ("userinfo", "access_token=\(access)"),
            ] {
                let name = path == "par" ? "nonce" : path == "token" ? "refresh_token" : "token"
                let doubled = path == "userinfo" ? "access_token=\(access)" : "\(name)=y&\(name)=z"
                let large = try await party.api.send(
                    .POST, "/oauth/\(path)", raw: Array(repeating: 0x61, count: 1 << 20),
                    headers: ["content-type": "application/x-www-form-urlencoded"])
                #expect(large.isOAuthError(413, "invalid_request"), "\(path): \(large.text)")
                let encoded = ["a=%00", "a%00=b", "a=%FF", "a=%C0%AF", "a=%ED%A0%80", "a=%zz", "%FF=a"]
                let faults = ([doubled] + encoded).map { Array("&\($0)".utf8) } + [Array("&a=".utf8) + [0xFF]]
                for fault in faults {
                    let answer = try await party.api.send(
                        .POST, "/oauth/\(path)", raw: Array(body.utf8) + fault,
                        headers: ["content-type": "application/x-www-form-urlencoded"])
                    let text = String(decoding: fault, as: UTF8.self)
                    #expect(answer.isOAuthError(400, "invalid_request"), "\(path) \(text): \(answer.text)")
                }
            }
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
            let line = Array("GET /oauth/authorize?\(query)".utf8)
            let rest = Array(" HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n".utf8)
            for byte in [0xFF, 0xC3, 0x00] as [UInt8] {
                let answer = await RawExchange(server).send(line + [byte] + rest)
                #expect(answer.hasPrefix("HTTP/1.1 400"), "\(byte): \(answer)")
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

    @Test func `a hint is an ID token of this client, also an old one`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let (cookie, tokens) = try await party.signedIn()
            let (_, others) = try await party.signedIn()
            let stranger = try DecodedToken(others["id_token"].string ?? "").claims["sub"]
            let token = try DecodedToken(tokens["id_token"].string ?? "")
            func signed(_ changes: [String: JSONValue], as kind: JWTKind = .identityToken) async throws -> String {
                try await server.hint(naming: changes, like: token.text, as: kind)
            }
            func error(_ hint: String) async throws -> String? {
                let answer = try await party.authorize(["id_token_hint": hint, "prompt": "none"], cookie: cookie)
                #expect((answer.returned("code") == nil) == (answer.returned("error") != nil), "\(answer.headers)")
                return answer.returned("error")
            }
            #expect(try await error(token.text) == nil)
            #expect(try await error(signed(["exp": 1_700_003_600, "iat": 1_700_000_000])) == nil, "an expired one")
            #expect(try await error(signed(["sub": stranger])) == "login_required", "another account's")
            var foreign: [String] = []
            for changes in [["aud": "loose"], ["aud": ["web"]], ["iss": "https://evil.example"]]
                as [[String: JSONValue]]
            {
                foreign.append(try await signed(changes))
            }
            for hint in foreign { #expect(try await error(hint) == "invalid_request", "\(hint)") }
            for kind in [JWTKind.accessToken, .logoutToken] {
                #expect(try await error(signed([:], as: kind)) == "invalid_request", "\(kind)")
            }
            #expect(try await error(token.text.dropLast(8) + "AAAAAAAA") == "invalid_request")
            try await server.forgetIdentityKeys()
            #expect(try await error(token.text) == nil, "one whose key is not known any more counts as absent")
            for hint in foreign { #expect(try await error(hint) == "invalid_request", "\(hint)") }
        }
    }

    @Test func `a token of another key, type, issuer or time is no access token`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let token = try DecodedToken(try await party.signedIn().tokens["access_token"].string ?? "")
            let (codec, application) = (ApplicationJWTCodec(keys: server.backend.keys), try await server.application())
            let claims = try #require(token.claims.object)
            var forged: [String] = []
            for (kind, changes) in [
                (JWTKind.identityToken, [:]), (.logoutToken, [:]), (.accessToken, ["exp": 1_700_000_000]),
                (.accessToken, ["iss": "http://127.0.0.1:1/apps/twin"]), (.accessToken, ["client_id": "nobody"]),
            ] as [(JWTKind, [String: JSONValue])] {
                let payload = try JSONEncoder().encode(claims.merging(changes) { $1 })
                forged.append(try await codec.sign(Array(payload), as: kind, for: application))
            }
            // Those that another issuer signs, with the name of this server's key.
            let authority = try TestAuthority(.es256, keyID: token.header["kid"].string ?? "")
            forged.append(try authority.token(claims, header: ["typ": "at+jwt"]))
            forged += try authority.attacks(on: claims, now: Date()).map(\.token)
            let parts = token.text.split(separator: ".")
            forged.append("\(try authority.token(claims).prefix { $0 != "." }).\(parts[1]).\(parts[2])")
            for text in forged {
                #expect(try await party.userInfo(text).isOAuthError(401, "invalid_token"), "\(text)")
                #expect(try await !party.isActive(text), "\(text)")
                #expect(try await party.post("/oauth/revoke", ["token": text]).status == 200)
                expectRefusal(try await party.api.get("/auth/me", bearer: text), text)
            }
            #expect(try await party.userInfo(token.text).status == 200)
        }
    }
}
