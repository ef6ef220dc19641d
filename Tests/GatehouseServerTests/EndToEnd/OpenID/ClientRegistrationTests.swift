import Accounts
import Delivery
import Foundation
import GatehouseTesting
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Clients that register themselves (RFC 7591, 7592), from their registration to their end.
struct ClientRegistrationTests {
    private static let metadata: JSONValue = [
        "redirect_uris": ["https://rp.example/cb"], "client_name": "Not Photos <b>",
        "logo_uri": "https://rp.example/logo.png", "policy_uri": "https://rp.example/policy",
        "tos_uri": "https://rp.example/tos", "grant_types": ["authorization_code", "refresh_token"],
        "scope": "openid email offline_access",
    ]
    private static let configuration = RelyingParty.registration(
        "mode: open, pkce: optional, scopes: [openid, email, offline_access]")

    @Test func `registration is off unless it is configured`() async throws {
        try await TestServer.with(application: RelyingParty.configuration, others: TestServer.photos) { server in
            for application in [nil, "photos"] {
                let api = APIClient(server, application: application)
                expectError(try await api.send(.POST, "/oauth/register", raw: Array("x".utf8)), 404, "NOT_FOUND")
                expectError(try await api.send(.GET, "/oauth/register/reg~x", bearer: "x"), 404, "NOT_FOUND")
            }
            let metadata = try await APIClient(server).send(.GET, "/.well-known/openid-configuration")
            #expect(metadata["registration_endpoint"] == .null)
        }
        try await TestServer.with(application: RelyingParty.registration()) { server in
            let api = APIClient(server)
            let metadata = try await api.send(.GET, "/.well-known/openid-configuration")
            #expect(metadata["registration_endpoint"] == "http://127.0.0.1:1/oauth/register")
            let wrong = try await api.send(.GET, "/oauth/register")
            #expect(wrong.status == 405 && wrong.headers.first(name: "allow") == "POST", "\(wrong.headers)")
            let preflight = try await api.send(
                .OPTIONS, "/oauth/register",
                headers: ["origin": "https://rp.example", "access-control-request-method": "POST"])
            #expect(preflight.headers.first(name: "access-control-allow-origin") == nil)
        }
    }

    @Test func `mode token asks for an initial access token`() async throws {
        let tokens = "mode: token, initialAccessTokens: [\"\(RelyingParty.initialToken)\"]"
        try await TestServer.with(application: RelyingParty.registration(tokens)) { server in
            let party = RelyingParty(server)
            let absent = try await party.register(Self.metadata)
            #expect(absent.isOAuthError(401, "invalid_token"))
            #expect(absent.headers.first(name: "www-authenticate") == "Bearer")
            let wrong = try await party.register(Self.metadata, token: RelyingParty.initialToken + "x")
            #expect(wrong.isOAuthError(401, "invalid_token"))
            let right = try await party.register(
                ["redirect_uris": ["https://rp.example/cb"]], token: RelyingParty.initialToken)
            #expect(right.status == 201, "\(right.text)")
        }
    }

    @Test func `a registered client signs people in with their consent, by a page that calls it unverified`()
        async throws
    {
        try await TestServer.with(application: Self.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let answer = try await RelyingParty(server).register(Self.metadata)
            let party = try RelyingParty(server).registered(answer)
            var browser = PageBrowser(server)
            let page = try await browser.signIn(ada, at: browser.begin(party, ["scope": "openid email offline_access"]))
            #expect(
                page.step == "consent" && page.text.contains("rp.example") && page.text.contains("Not Photos &lt;b&gt;")
            )
            #expect(page.text.contains("id=\"unverified\"") && page.text.contains("has not verified"))
            #expect(!page.text.contains("logo.png") && !page.text.contains("<img src=\"https:"))
            let policy = page.answer.headers.first(name: "content-security-policy") ?? ""
            #expect(!policy.contains("rp.example/logo"))
            #expect(
                page.link("policy") == "https://rp.example/policy" && page.link("terms") == "https://rp.example/tos")
            #expect(try await browser.begin(party, ["prompt": "none"]).returnedError == "consent_required")
            let allowed = try await browser.submit("allow", of: page)
            let tokens = try await party.redeem(try #require(allowed.code))
            #expect(tokens.status == 200, "\(tokens.text)")
            #expect(try await party.userInfo(tokens["access_token"].string ?? "")["email"] == .string(ada.email))
            let refreshed = try await party.refresh(tokens["refresh_token"].string ?? "")
            #expect(refreshed.status == 200, "\(refreshed.text)")
            let grants = try await party.api.get("/auth/grants", bearer: ada.accessToken)
            let grant = grants["grants"].array?.first ?? .null
            #expect(grant["kind"] == "registered" && grant["name"] == "rp.example (Not Photos <b>)", "\(grants.text)")
            let sessions = try await party.api.get("/auth/sessions", bearer: ada.accessToken)
            let names = sessions["sessions"].array?.compactMap { $0["client"]["name"].string }
            #expect(names == ["rp.example (Not Photos <b>)"], "\(sessions.text)")
        }
    }

    @Test func `a name that a client has given itself is shown after its hosts`() async throws {
        try await TestServer.with(application: Self.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let hosts = ["rp.example", "two.example", "rp.example", "three.example", "four.example"]
            let party = try RelyingParty(server).registered(
                try await RelyingParty(server).register([
                    "redirect_uris": .array(hosts.map { .string("https://\($0)/\(UUID().uuidString)") }),
                    "client_name": "Photos",
                ]))
            let shown = "rp.example, two.example, three.example +1 (Photos)"
            var browser = PageBrowser(server)
            let page = try await browser.begin(party)
            #expect(page.step == "signin" && page.text.contains(shown), "\(page.text)")
            let code = try await browser.submit("qr", of: page)
            let seen = try await QRPhone(of: ada, at: server).look(code.qrCode ?? "")
            #expect(seen["client"]["name"].string == shown, "\(seen.text)")
            let consent = try await browser.signIn(ada, at: browser.begin(party))
            #expect(try await browser.submit("allow", of: consent).code != nil)
            let apps = try await browser.open("/account/apps")
            #expect(apps.text.contains(shown), "\(apps.text)")
            try await eventually("the notice of the consent has the hosts") {
                server.inbox.messages().contains { $0.to == ada.email && $0.text.contains(shown) }
            }
        }
    }

    @Test func `with its deletion all that a client has is dead on every replica`() async throws {
        try await TestServer.with(application: Self.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let party = RelyingParty(server)
            let answer = try await party.register(Self.metadata)
            let client = try party.registered(answer)
            try await client.consent(of: ada)
            let cookie = try await client.browser(of: ada)
            let code = try await client.code(["scope": "openid email"], cookie: cookie)
            let tokens = try await client.redeem(code)
            let access = try #require(tokens["access_token"].string, "\(tokens.text)")
            let unused = try await client.code(["scope": "openid email"], cookie: cookie)
            #expect(try await party.manage(.DELETE, answer).status == 204)
            try await TestServer.with(database: server.databaseURL, application: Self.configuration) { replica in
                for api in [APIClient(server), APIClient(replica)] {
                    var other = client
                    other.api = api
                    let client = other
                    #expect(try await client.userInfo(access).isOAuthError(401, "invalid_token"))
                    #expect(try await client.redeem(unused).isOAuthError(401, "invalid_client"))
                    let refused = try await client.authorize(cookie: cookie)
                    #expect(refused.status == 400)
                }
            }
            let live = try await server.count(
                "SELECT count(*) FROM sessions WHERE client_id LIKE 'reg~%' AND ended_at IS NULL")
            #expect(live == 0)
            let ended =
                try await server.text(
                    "SELECT details::text FROM audit_events WHERE event = 'session.ended' ORDER BY at DESC LIMIT 1")
                ?? ""
            #expect(ended.contains("clientRevoked") && ended.contains("reg~"))
            try await server.age("clients", "expires_at", by: "2 minutes")
            _ = try await server.sweep()
            #expect(try await server.rows(of: "clients") == 0)
            #expect(try await server.rows(of: "consents") == 0)
        }
    }

    @Test func `a client that no person has allowed is deleted after a day, and its own calls do not count`()
        async throws
    {
        try await TestServer.with(application: RelyingParty.registration("mode: open, idle: 10d")) { server in
            let party = RelyingParty(server)
            let ada = try await party.api.register(at: server)
            let metadata: JSONValue = ["redirect_uris": ["https://rp.example/cb"]]
            let used = try party.registered(try await party.register(metadata))
            let busy = try party.registered(try await party.register(metadata))
            let idle = try await party.register(metadata)
            let form = ["grant_type": "authorization_code", "code": "x", "redirect_uri": used.redirectURI]
            #expect(try await used.post("/oauth/token", form).isOAuthError(400, "invalid_grant"))
            try await used.consent(of: ada)
            try await server.age("clients", "created_at", "expires_at", by: "23 hours")
            #expect(try await used.post("/oauth/token", form).isOAuthError(400, "invalid_grant"))
            #expect(try await busy.post("/oauth/token", form).isOAuthError(400, "invalid_grant"))
            try await server.age("clients", "expires_at", "last_used_at", by: "2 days")
            #expect(try await party.manage(.GET, idle).status == 401)
            #expect(try await busy.post("/oauth/token", form).isOAuthError(401, "invalid_client"))
            _ = try await server.sweep()
            #expect(try await server.text("SELECT string_agg(client_id, ' ') FROM clients") == used.client)
            let event =
                try await server.text(
                    "SELECT details::text FROM audit_events WHERE event = 'client.deleted' LIMIT 1") ?? ""
            #expect(event.contains("idle"), "\(event)")
            // Use puts it off again, by the ten days of the configuration, also within an hour of an earlier one.
            try await server.execute(
                """
                UPDATE clients SET last_used_at = now() - interval '30 minutes',
                                   expires_at = now() + interval '10 minutes'
                """)
            #expect(try await used.post("/oauth/token", form).isOAuthError(400, "invalid_grant"))
            try await server.age("clients", "expires_at", by: "9 days")
            #expect(try await used.post("/oauth/token", form).isOAuthError(400, "invalid_grant"))
            try await server.age("clients", "expires_at", by: "2 days")
            #expect(try await used.post("/oauth/token", form).isOAuthError(401, "invalid_client"))
        }
    }

    @Test func `an application has ten thousand registered clients at most`() async throws {
        try await TestServer.with(application: RelyingParty.registration()) { server in
            let party = RelyingParty(server)
            let first = try await party.register(["redirect_uris": ["https://rp.example/cb"]])
            try await server.execute(
                """
                INSERT INTO clients (application_id, client_id, issuer, metadata, secret_hash, registration_hash, slot,
                                     expires_at)
                SELECT application_id, 'reg~' || number, issuer, metadata, secret_hash, registration_hash, number,
                       expires_at
                  FROM clients, generate_series(0, 9999) AS number
                 WHERE number NOT IN (clients.slot, (clients.slot + 1) % 10000, (clients.slot + 2) % 10000)
                """)
            let statuses = try await atOnce(20) {
                try await party.register(["redirect_uris": ["https://rp.example/cb"]]).status
            }
            #expect(statuses.count { $0 == 201 } == 2 && statuses.count { $0 == 503 } == 18, "\(statuses)")
            let refused = try await party.register(["redirect_uris": ["https://rp.example/cb"]])
            #expect(refused.isOAuthError(503, "temporarily_unavailable") && refused.retryAfter != nil)
            #expect(try await party.manage(.DELETE, first).status == 204)
            try await server.age("clients", "expires_at", by: "2 minutes", where: "deleted_at IS NOT NULL")
            _ = try await server.sweep()
            #expect(try await party.register(["redirect_uris": ["https://rp.example/cb"]]).status == 201)
        }
    }

    @Test func `registrations of one network are limited`() async throws {
        try await TestServer.with(
            application: RelyingParty.registration(), rateLimits: "{ clientRegistration: 3/h }"
        ) { server in
            let party = RelyingParty(server)
            let statuses = try await atOnce(10) { try await party.register([:]).status }
            #expect(statuses.count { $0 == 400 } == 3 && statuses.count { $0 == 429 } == 7, "\(statuses)")
            let answer = try await party.api.send(.GET, "/oauth/register/reg~x", bearer: "x")
            #expect(answer.isOAuthError(429, "temporarily_unavailable") && answer.retryAfter != nil)
        }
    }

    @Test func `a registration token of another client or application tells nothing`() async throws {
        try await TestServer.with(application: RelyingParty.registration()) { server in
            let party = RelyingParty(server)
            let (one, two) = (
                try await party.register(["redirect_uris": ["https://rp.example/cb"]]),
                try await party.register(["redirect_uris": ["https://rp.example/cb"]])
            )
            let token = try #require(one["registration_access_token"].string)
            let wrong = [
                ("reg~unknown", token), (two["client_id"].string ?? "", token), ("web", token),
                (one["client_id"].string ?? "", one["client_secret"].string ?? ""),
                (one["client_id"].string ?? "", token.uppercased()), ("%00", token), ("reg~%00", token),
            ]
            for method: HTTPMethod in [.GET, .PUT, .DELETE] {
                var texts: Set<String> = []
                for (id, token) in wrong {
                    let answer = try await party.api.send(method, "/oauth/register/\(id)", bearer: token)
                    #expect(answer.isOAuthError(401, "invalid_token"), "\(method) \(id): \(answer.text)")
                    texts.insert(answer.text)
                }
                #expect(texts.count == 1)
                let absent = try await party.api.send(method, "/oauth/register/\(one["client_id"].string ?? "")")
                #expect(absent.status == 401 && absent.headers.first(name: "www-authenticate") == "Bearer")
            }
            #expect(try await party.manage(.GET, one).status == 200)
        }
    }
}
