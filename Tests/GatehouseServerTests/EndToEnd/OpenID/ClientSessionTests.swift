import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// The sessions of clients: which codes open, move and end them, and what their tokens are for.
struct ClientSessionTests {
    private static let offline = ["scope": "openid email offline_access"]

    @Test func `a replay ends the session that the code has opened, and no other`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let first = try await party.code(Self.offline, cookie: cookie)
            let former = try await party.redeem(first)
            #expect(
                try await party.post("/oauth/revoke", ["token": former["refresh_token"].string ?? ""]).status == 200)
            let tokens = try await party.redeem(party.code(Self.offline, cookie: cookie))
            let access = tokens["access_token"].string ?? ""
            let refused = try await party.code(Self.offline, cookie: cookie)
            let wrong = ["code_verifier": String(repeating: "v", count: 43)]
            #expect(try await party.redeem(refused, wrong).isOAuthError(400, "invalid_grant"))
            try await server.age("authorization_codes", "redeemed_at", by: "3 seconds")
            for code in [first, refused] {
                #expect(try await party.redeem(code).isOAuthError(400, "invalid_grant"))
                #expect(try await party.userInfo(access).status == 200)
            }
            #expect(try await party.refresh(tokens["refresh_token"].string ?? "").status == 200)
        }
    }

    @Test func `a resource or scope that was not granted uses up no refresh token and opens no session`() async throws {
        let configuration = """
            openid:
              clients:
                web:
                  name: Photos
                  secret: "\(RelyingParty.secret)"
                  redirectURIs: ["\(RelyingParty.redirectURI)"]
                  firstParty: true
                  scopes: [openid, email, offline_access]
                  resources: ["https://api.photos.example", "https://docs.example"]
              resources:
                "https://api.photos.example": { scopes: { read: Read } }
                "https://docs.example": { scopes: { write: Write } }
            """
        try await TestServer.with(application: configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let (photos, docs) = ("https://api.photos.example", "https://docs.example")
            let scope = ["scope": "openid offline_access read write"]
            for (change, error) in [
                ([:], "invalid_target"), (["resource": "https://other.example"], "invalid_target"),
            ] {
                let code = try await party.code(scope, cookie: cookie)
                #expect(try await party.redeem(code, change).isOAuthError(400, error), "\(change)")
                #expect(try await party.redeem(code, ["resource": docs]).isOAuthError(400, "invalid_grant"), "used up")
            }
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'client'") == 0)
            let tokens = try await party.redeem(party.code(scope, cookie: cookie), ["resource": docs])
            let first = try DecodedToken(tokens["access_token"].string ?? "")
            #expect(first.claims["aud"] == [.string(docs), "http://127.0.0.1:1"])
            #expect(first.claims["scope"] == "openid offline_access write")
            let refresh = try #require(tokens["refresh_token"].string)
            for (change, error) in [
                ([:], "invalid_target"), (["resource": "https://other.example"], "invalid_target"),
                (["resource": photos, "scope": "phone"], "invalid_scope"),
                (["resource": photos, "scope": "write"], "invalid_scope"),
            ] {
                #expect(try await party.refresh(refresh, change).isOAuthError(400, error), "\(change)")
            }
            #expect(try await party.isActive(refresh))
            let second = try await party.refresh(refresh, ["resource": photos, "scope": "read"])
            #expect(second.status == 200 && second["scope"] == "read" && second["id_token"].isNull, "\(second.text)")
            #expect(try DecodedToken(second["access_token"].string ?? "").claims["aud"] == [.string(photos)])
            #expect(try await !party.isActive(refresh), "a rotated token")
            #expect(try await party.isActive(second["refresh_token"].string ?? ""))
        }
    }

    @Test func `what the configuration has taken from a client is not granted any more`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let code = try await party.code(Self.offline, cookie: cookie)
            try await server.execute(
                """
                UPDATE authorization_codes
                   SET scopes = scopes || '{admin}'::text[], resources = '{https://gone.example}'
                """)
            let tokens = try await party.redeem(code)
            #expect(tokens["scope"] == "openid email offline_access", "\(tokens.text)")
            let refreshed = try await party.refresh(tokens["refresh_token"].string ?? "")
            #expect(refreshed["scope"] == "openid email offline_access", "\(refreshed.text)")
            for answer in [tokens, refreshed] {
                let token = try DecodedToken(answer["access_token"].string ?? "")
                #expect(token.claims["aud"] == ["http://127.0.0.1:1"])
            }
        }
    }

    @Test func `a client session has the identity and the device of its browser session`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            for name in ["phone", "laptop"] {
                let (id, uid) = (UUID(), UUID(uuidString: person.uid))
                try await server.execute(
                    """
                    INSERT INTO identities (application_id, id, uid, provider, provider_uid)
                    SELECT application_id, $3, uid, 'google', $2 FROM accounts WHERE uid = $1
                    """, [.uuid(uid), .text(name), .uuid(id)])
                try await server.execute(
                    "UPDATE sessions SET device = $1, address = '192.0.2.7', identity_id = $2 WHERE kind = 'browser'",
                    [.text(name), .uuid(id)])
                #expect(try await party.redeem(party.code(cookie: cookie)).status == 200)
                let session = try await server.text(
                    """
                    SELECT s.device || ' ' || s.address || ' ' || i.provider_uid
                      FROM sessions s JOIN identities i ON i.application_id = s.application_id AND i.id = s.identity_id
                     WHERE s.kind = 'client'
                    """)
                #expect(session == "\(name) 192.0.2.7 \(name)")
            }
            let pending = try await party.code(cookie: cookie)
            try await server.execute("DELETE FROM identities WHERE provider = 'google'")
            #expect(try await party.redeem(pending).isOAuthError(400, "invalid_grant"), "the identity is gone")
        }
    }

    @Test func `a client session without offline access lasts as long as its browser session`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            func sessionID() async throws -> JSONValue {
                let tokens = try await party.redeem(party.code(cookie: cookie))
                return try DecodedToken(tokens["id_token"].string ?? "").claims["sid"]
            }
            func sessions(_ kind: JSONValue) async throws -> [JSONValue] {
                let list = try await party.api.get("/auth/sessions", bearer: person.accessToken)
                return (list["sessions"].array ?? []).filter { $0["kind"] == kind }
            }
            func clients() async throws -> [JSONValue] {
                let list = try await party.api.get("/auth/grants", bearer: person.accessToken)
                return (list["grants"].array ?? []).map { $0["clientId"] }
            }
            func letEndPass() async throws {
                try await server.age("sessions", "expires_at", by: "3 days", where: "kind = 'client'")
                _ = try await server.sweep()
            }
            let first = try await sessionID()
            try await letEndPass()
            #expect(try await sessions("client").map { $0["id"] } == [first])
            #expect(
                try await sessions("client").map { $0["expiresAt"] } == sessions("browser").map { $0["expiresAt"] })
            #expect(try await clients() == ["web"])
            #expect(try await sessionID() == first, "a further code")
            try await letEndPass()
            #expect(try await party.api.delete("/auth/grants/web", bearer: person.accessToken).status == 204)
            #expect(try await sessions("client").isEmpty)

            #expect(try await sessionID() != first)
            try await server.execute(
                """
                UPDATE sessions SET idle = '12 hours', last_used_at = now() - interval '13 hours'
                 WHERE kind = 'browser'
                """)
            #expect(try await sessions("client").isEmpty, "the browser session was unused too long")
            #expect(try await clients().isEmpty)
            #expect(try await party.api.delete("/auth/grants/web", bearer: person.accessToken).status == 404)
            try await letEndPass()
            #expect(
                try await server.count("SELECT count(*) FROM sessions WHERE kind = 'client' AND ended_at IS NULL") == 0)
        }
    }

    @Test func `a code that waits until its browser session has a new identity gives tokens`() async throws {
        try await TestServer.with(application: RelyingParty.instances()) { server in
            let web = RelyingParty(server)
            for party in [web, try await web.install().app] {
                let (person, identity) = (try await party.api.register(at: server), UUID())
                let code = try await party.code(["scope": "openid profile"], cookie: party.browser(of: person))
                let answer = try await server.link(identity, inBrowserOf: person) { try await party.redeem(code) }
                #expect(answer.status == 200, "\(party.client): \(answer.text)")
                let sessions = try await server.count(
                    "SELECT count(*) FROM sessions WHERE kind = 'client' AND identity_id = $1", [.uuid(identity)])
                #expect(sessions == 1)
            }
        }
    }

    @Test func `no client session outlives a logout that races with redemptions`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            for round in 0..<12 {
                let person = try await party.api.register(at: server)
                let cookie = try await party.browser(of: person)
                let code = try await party.code(Self.offline, cookie: cookie)
                let browser = try await server.text(
                    "SELECT id::text FROM sessions WHERE kind = 'browser' AND uid = $1",
                    [.uuid(UUID(uuidString: person.uid))])
                async let redeemed = party.redeem(code)
                let isGlobal = round.isMultiple(of: 2)
                let left =
                    isGlobal
                    ? try await party.api.post("/auth/logout", ["scope": "global"], bearer: person.accessToken)
                    : try await party.api.delete("/auth/sessions/\(browser ?? "")", bearer: person.accessToken)
                #expect(left.status == 204)
                let tokens = try await redeemed
                #expect(tokens.status == 200 || tokens.isOAuthError(400, "invalid_grant"), "\(tokens.text)")
                // Signing out of the browser leaves only what was granted offline.
                let live = try await server.count(
                    """
                    SELECT count(*) FROM sessions
                     WHERE uid = $1 AND ended_at IS NULL AND ($2 OR kind = 'browser' OR NOT outlives_parent)
                       AND kind <> 'api'
                    """, [.uuid(UUID(uuidString: person.uid)), .bool(isGlobal)])
                #expect(live == 0)
            }
        }
    }

    @Test func `max_age is measured in the whole seconds that clients see`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            // The difference of the times is 10.001 to 11.001 seconds, that of the whole seconds is 11.
            try await server.execute(
                """
                UPDATE sessions SET authenticated_at = date_trunc('second', now()) - interval '10.001 seconds'
                 WHERE kind = 'browser'
                """)
            let tooOld = try await party.authorize(["prompt": "none", "max_age": "10"], cookie: cookie)
            #expect(tooOld.returned("error") == "login_required")
            #expect(
                try await party.authorize(["prompt": "none", "max_age": "600"], cookie: cookie).returned("code") != nil)
        }
    }

    @Test func `a hint for another account leaves the browser as it was`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let (ada, bob) = (try await party.api.register(at: server), try await party.api.register(at: server))
            let tokens = try await party.redeem(party.code(cookie: party.browser(of: ada)))
            let hint = ["id_token_hint": tokens["id_token"].string ?? ""]
            var browser = PageBrowser(server)
            let refused = try await browser.signIn(bob, at: browser.begin(party, hint))
            #expect(refused.returnedError == "access_denied", "\(refused.text)")
            #expect(try await browser.begin(party, ["prompt": "none"]).returnedError == "login_required")
            #expect(try await browser.signIn(bob, at: browser.begin(party)).code != nil)
            _ = try await browser.signIn(bob, at: browser.begin(party, hint))
            #expect(try await browser.begin(party, ["prompt": "none"]).code != nil, "he was signed in before")
        }
    }

    @Test func `accounts that were merged one after the other are aliases, and can be named by a hint`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            var (people, hints): ([Person], [String]) = ([], [])
            for _ in 0..<3 {
                let person = try await party.api.register(at: server)
                people.append(person)
                let tokens = try await party.redeem(party.code(cookie: party.browser(of: person)))
                hints.append(try #require(tokens["id_token"].string))
            }
            for (absorbed, survivor) in zip(people.dropFirst(), people) {
                try await server.execute(
                    "UPDATE accounts SET absorbed_by = $2 WHERE uid = $1",
                    [.uuid(UUID(uuidString: absorbed.uid)), .uuid(UUID(uuidString: survivor.uid))])
            }
            let cookie = try await party.browser(of: people[0])
            for hint in hints {
                let answer = try await party.authorize(["prompt": "none", "id_token_hint": hint], cookie: cookie)
                let tokens = try await party.redeem(try #require(answer.returned("code"), "\(answer.headers)"))
                let info = try await party.userInfo(tokens["access_token"].string ?? "")
                #expect(info["sub"].string == people[0].uid)
                #expect(info["aliases"].array?.compactMap(\.string).sorted() == people.dropFirst().map(\.uid).sorted())
            }
            let stranger = try await party.browser(of: party.api.register(at: server))
            let refused = try await party.authorize(["prompt": "none", "id_token_hint": hints[2]], cookie: stranger)
            #expect(refused.returned("error") == "login_required")
        }
    }
}
