import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Client authentication, introspection, revocation, and which token is taken where.
struct TokenInspectionTests {
    @Test func `a client is authenticated in one way, and a wrong secret is an unknown client`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let form = ["token": "x"]
            func basic(_ id: String, _ secret: String) -> String {
                "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()
            }
            let encoded = RelyingParty.secret.formEncoded
            for header in [basic("web", RelyingParty.secret), basic("web", encoded)] {
                let answer = try await party.post(
                    "/oauth/introspect", form, isAuthenticated: false, headers: ["authorization": header])
                #expect(answer.status == 200 && answer["active"] == false, "\(answer.text)")
            }
            for header in [basic("web", "wrong"), basic("nobody", RelyingParty.secret), basic("spa", ""), "Basic x"] {
                let answer = try await party.post(
                    "/oauth/introspect", form, isAuthenticated: false, headers: ["authorization": header])
                #expect(answer.isOAuthError(401, "invalid_client"), "\(header)")
                #expect(answer.headers.first(name: "www-authenticate") == "Basic realm=\"gatehouse\"")
            }
            let twice = try await party.post(
                "/oauth/introspect", form, headers: ["authorization": basic("web", RelyingParty.secret)])
            #expect(twice.isOAuthError(400, "invalid_request"))
            #expect(
                try await RelyingParty.public(server).post("/oauth/introspect", form).isOAuthError(
                    401, "invalid_client"))
            let inURL = try await party.post("/oauth/token?client_secret=x", form)
            #expect(inURL.isOAuthError(400, "invalid_request"))
            let doubled = try await party.api.send(
                .POST, "/oauth/token", raw: Array("grant_type=a&grant_type=b".utf8),
                headers: ["content-type": "application/x-www-form-urlencoded"])
            #expect(doubled.isOAuthError(400, "invalid_request"))
            let json = try await party.api.send(.POST, "/oauth/token", raw: Array("{}".utf8))
            #expect(json.isOAuthError(415, "invalid_request"))
            let get = try await party.api.send(.GET, "/oauth/token")
            #expect(get.isOAuthError(405, "invalid_request") && get.headers.first(name: "allow") == "POST")
        }
    }

    @Test func `every secret of a client authenticates it, whatever bytes it has`() async throws {
        let (odd, other) = ("a+b%2Bc:d%e=f&g h \u{E9} \"i\" and so on", "the second one: with 32 bytes + 100%")
        let configuration = RelyingParty.configuration.replacing(
            "    app:\n",
            with: """
                    odd:
                      name: Odd
                      secrets: ['\(odd)', '\(other)']
                      redirectURIs: ["https://odd.example/cb"]
                    app:

                """)
        try await TestServer.with(application: configuration) { server in
            let party = RelyingParty(server)
            func status(_ headers: [String], form: [String: String] = [:]) async throws -> Int {
                let fields = HTTPHeaders(headers.map { ("authorization", $0) })
                let form = form.merging(["token": "x"]) { $1 }
                return try await party.post("/oauth/introspect", form, isAuthenticated: false, headers: fields).status
            }
            func basic(_ secret: String, scheme: String = "Basic") -> String {
                "\(scheme) " + Data("odd:\(secret)".utf8).base64EncodedString()
            }
            for secret in [odd, other] {
                for sent in [secret, secret.formEncoded] {
                    #expect(try await status([basic(sent)]) == 200, "\(sent)")
                    #expect(try await status([basic(sent, scheme: "bAsIc")]) == 200, "\(sent)")
                    #expect(try await status([basic(sent), basic(sent)]) >= 400, "two fields")
                    #expect(try await status([basic(sent)], form: ["client_id": "web"]) == 400)
                }
                #expect(try await status([], form: ["client_id": "odd", "client_secret": secret]) == 200)
                #expect(try await status([], form: ["client_id": "odd", "client_secret": secret.formEncoded]) == 401)
                #expect(try await status([basic(secret + "x")]) == 401)
            }
            let right = basic(odd).dropFirst("Basic ".count)
            for header in [
                "", "Basic", "Basic ", "Bearer \(right)", "Basic \(right),Basic \(right)", "Basic \(right) x",
            ] {
                let status = try await status([header])
                #expect(status == 401, "\(header)")
            }
        }
    }

    @Test func `a client sees its own tokens, and those for audiences that it inspects`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            var (loose, jobs) = (party, party)
            (loose.client, jobs.client) = ("loose", "jobs")
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            let answer = try await party.redeem(
                try await party.code(["scope": "openid offline_access"], cookie: cookie))
            let (access, refresh) = (answer["access_token"].string ?? "", answer["refresh_token"].string ?? "")
            let own = try await party.post("/oauth/introspect", ["token": access])
            #expect(own["sub"].string == person.uid && own["client_id"] == "web" && own["token_type"] == "Bearer")
            let ofRefresh = try await party.post("/oauth/introspect", ["token": refresh])
            #expect(ofRefresh.json.keys == ["active", "scope", "client_id", "iss", "sid", "sub", "exp"])
            let code = try await party.code(["scope": "openid read"], cookie: cookie)
            let ofResource = try await party.redeem(code)["access_token"].string ?? ""
            #expect(try await jobs.isActive(ofResource))
            #expect(try await !jobs.isActive(access))
            for (client, token) in [(loose, access), (loose, refresh), (jobs, refresh)] {
                let other = try await client.post("/oauth/introspect", ["token": token])
                #expect(other.status == 200 && other.json == ["active": false])
            }
            for token in [answer["id_token"].string ?? "", person.accessToken, person.refreshToken, "x"] {
                #expect(try await !party.isActive(token))
            }
        }
    }

    @Test func `revoking any token of a session ends it, and only for its own client`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            var loose = party
            loose.client = "loose"
            let cookie = try await party.browser(of: party.api.register(at: server))
            for name in ["access_token", "refresh_token"] {
                let answer = try await party.redeem(
                    try await party.code(["scope": "openid offline_access"], cookie: cookie))
                let (access, refresh) = (answer["access_token"].string ?? "", answer["refresh_token"].string ?? "")
                #expect(try await loose.post("/oauth/revoke", ["token": answer[name].string ?? ""]).status == 200)
                #expect(try await party.userInfo(access).status == 200)
                #expect(try await party.post("/oauth/revoke", ["token": answer[name].string ?? ""]).status == 200)
                #expect(try await party.userInfo(access).isOAuthError(401, "invalid_token"), "\(name)")
                #expect(try await party.refresh(refresh).isOAuthError(400, "invalid_grant"), "\(name)")
                #expect(try await !party.isActive(access), "\(name)")
                #expect(try await !party.isActive(refresh), "\(name)")
            }
            #expect(try await party.post("/oauth/revoke", ["token": "x"]).status == 200)
        }
    }

    @Test func `no token is taken in the place of another`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let answer = try await party.redeem(try await party.code(cookie: party.browser(of: person)))
            let (access, identity) = (answer["access_token"].string ?? "", answer["id_token"].string ?? "")
            expectError(try await party.api.get("/auth/me", bearer: access), 403, "INSUFFICIENT_SCOPE")
            expectError(try await party.api.get("/auth/me", bearer: identity), 401, "INVALID_TOKEN")
            #expect(try await party.userInfo(identity).isOAuthError(401, "invalid_token"))
            #expect(try await party.userInfo(person.accessToken).isOAuthError(403, "insufficient_scope"))
            let bare = try await party.api.send(.GET, "/oauth/userinfo")
            #expect(bare.status == 401 && bare.headers.first(name: "www-authenticate") == "Bearer")
        }
    }

    @Test func `signing out in the browser ends its clients' sessions, but for those that stay`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            var loose = party
            loose.client = "loose"
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            let staying = try await party.redeem(
                try await party.code(["scope": "openid offline_access"], cookie: cookie))
            let bound = try await loose.redeem(try await loose.code(cookie: cookie))
            #expect(bound.status == 200 && staying.status == 200)
            let listed = try await party.api.get("/auth/sessions", bearer: person.accessToken)["sessions"].array ?? []
            #expect(listed.map { $0["kind"].string ?? "" }.sorted() == ["api", "browser", "client", "client"])
            #expect(listed.contains { $0["client"] == ["id": "web", "name": "Photos"] && $0["browser"] != .null })
            let browser = try #require(try await server.text("SELECT id::text FROM sessions WHERE kind = 'browser'"))
            #expect(try await party.api.delete("/auth/sessions/\(browser)", bearer: person.accessToken).status == 204)
            #expect(try await party.userInfo(bound["access_token"].string ?? "").isOAuthError(401, "invalid_token"))
            #expect(try await party.userInfo(staying["access_token"].string ?? "").status == 200)
            #expect(try await party.authorize(["prompt": "none"], cookie: cookie).returned("error") == "login_required")
            _ = try await party.api.post("/auth/logout", ["scope": "global"], bearer: person.accessToken)
            #expect(try await party.refresh(staying["refresh_token"].string ?? "").isOAuthError(400, "invalid_grant"))
        }
    }

    @Test func `discovery lists what the server does, at the application's own URL`() async throws {
        let photos = """
              photos:
                audience: photos-app
                tokens: { algorithm: ES256 }
                providers: { anonymous: { enabled: true } }
                openid:
                  pages:
                    links: { privacy: "https://photos.example/privacy", terms: "https://photos.example/terms" }
            """
        try await TestServer.with(application: RelyingParty.configuration, others: photos) { server in
            let api = APIClient(server)
            let document = try await api.send(.GET, "/.well-known/openid-configuration")
            #expect(document.status == 200 && document["issuer"] == "http://127.0.0.1:1")
            #expect(document.headers.first(name: "access-control-allow-origin") == "*")
            #expect(document.headers.first(name: "cache-control") == "public, max-age=300")
            #expect(document["scopes_supported"].array?.contains("read") == true)
            #expect(document["op_policy_uri"] == .null && document["op_tos_uri"] == .null)
            #expect(document["id_token_signing_alg_values_supported"] == ["ES256"])
            for path in [
                "/apps/photos/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/apps/photos",
            ] {
                let other = try await api.send(.GET, path)
                #expect(other["issuer"] == "http://127.0.0.1:1/apps/photos", "\(path)")
                #expect(other["op_policy_uri"] == "https://photos.example/privacy")
                #expect(other["op_tos_uri"] == "https://photos.example/terms")
            }
            let preflight = try await api.send(
                .OPTIONS, "/oauth/token",
                headers: ["origin": "https://gallery.example", "access-control-request-method": "POST"])
            #expect(preflight.status == 204 && preflight.headers.first(name: "access-control-allow-origin") == "*")
            #expect(preflight.headers.first(name: "access-control-allow-headers")?.contains("DPoP") == true)
            let closed = try await api.send(
                .OPTIONS, "/oauth/introspect",
                headers: ["origin": "https://gallery.example", "access-control-request-method": "POST"])
            #expect(closed.headers.first(name: "access-control-allow-origin") == nil)
        }
    }
}
