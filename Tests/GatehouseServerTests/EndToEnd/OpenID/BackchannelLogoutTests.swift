import Accounts
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// Logout tokens (OpenID Connect Back-Channel Logout 1.0).
struct BackchannelLogoutTests {
    /// A client with a session of a person.
    private struct Visit: Sendable {
        let party: RelyingParty
        let person: Person
        let cookie: String
        let code: String
        let tokens: APIClient.Answer

        var accessToken: String { tokens["access_token"].string ?? "" }
        var refreshToken: String { tokens["refresh_token"].string ?? "" }
    }

    private static func visit(_ party: RelyingParty, scope: String = "openid offline_access") async throws -> Visit {
        let person = try await party.api.register(at: party.server)
        if party.secret == nil {
            try await party.server.execute(
                """
                INSERT INTO consents (application_id, uid, client_id, scopes, resources)
                SELECT application_id, uid, $2, '{openid,offline_access}', '{}' FROM accounts WHERE uid = $1
                """, [.uuid(UUID(uuidString: person.uid)), .text(party.client)])
        }
        let cookie = try await party.browser(of: person)
        let code = try await party.code(["scope": scope], cookie: cookie)
        let tokens = try await party.redeem(code)
        try #require(tokens.status == 200, "\(tokens.text)")
        return Visit(party: party, person: person, cookie: cookie, code: code, tokens: tokens)
    }

    /// The ways in which a client's session ends.
    private static let ends: KeyValuePairs<String, @Sendable (Visit) async throws -> Void> = [
        "sign-out": { visit in
            let hint = visit.tokens["id_token"].string ?? ""
            _ = try await visit.party.logout(["id_token_hint": hint], cookie: visit.cookie)
        },
        "end of the session": { visit in
            let list = try await visit.party.api.get("/auth/sessions", bearer: visit.person.accessToken)
            let session = list["sessions"].array?.first { $0["kind"] == "client" }?["id"].string ?? ""
            _ = try await visit.party.api.delete("/auth/sessions/\(session)", bearer: visit.person.accessToken)
        },
        "end of the browser session": { visit in
            let list = try await visit.party.api.get("/auth/sessions", bearer: visit.person.accessToken)
            let session = list["sessions"].array?.first { $0["kind"] == "browser" }?["id"].string ?? ""
            _ = try await visit.party.api.delete("/auth/sessions/\(session)", bearer: visit.person.accessToken)
        },
        "revocation": { visit in
            _ = try await visit.party.post("/oauth/revoke", ["token": visit.refreshToken])
        },
        "replay of the code": { visit in
            try await visit.party.server.execute(
                "UPDATE authorization_codes SET redeemed_at = now() - interval '3 seconds'")
            _ = try await visit.party.redeem(visit.code)
        },
        "reuse of a refresh token": { visit in
            let next = try await visit.party.refresh(visit.refreshToken)["refresh_token"].string ?? ""
            _ = try await visit.party.refresh(next)
            try await visit.party.server.execute("UPDATE refresh_tokens SET created_at = now() - interval '1 minute'")
            _ = try await visit.party.refresh(visit.refreshToken)
        },
        "the grant taken back": { visit in
            let grant = "/auth/grants/\(visit.party.client)"
            _ = try await visit.party.api.delete(grant, bearer: visit.person.accessToken)
        },
        "sign-out everywhere": { visit in
            _ = try await visit.party.api.post("/auth/logout", ["scope": "global"], bearer: visit.person.accessToken)
        },
        "deletion": { visit in
            _ = try await visit.party.api.delete("/auth/account", bearer: visit.person.accessToken)
        },
    ]

    @Test(arguments: [true, false])
    func `each end of a client's session is told to the client`(isPublic: Bool) async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with(application: RelyingParty.configuration(backchannel: sink.url)) { server in
                let party = isPublic ? RelyingParty.public(server) : RelyingParty(server)
                let application = try await server.application()
                let codec = ApplicationJWTCodec(keys: server.backend.keys)
                for (name, end) in Self.ends {
                    let visit = try await Self.visit(party)
                    let identity = try DecodedToken(visit.tokens["id_token"].string ?? "").claims
                    let count = sink.posts.count
                    try await end(visit)
                    try await eventually("the client is told of: \(name)") { sink.posts.count > count }
                    #expect(sink.posts.count == count + 1, "\(name)")
                    let post = try #require(sink.posts.last)
                    #expect(post.headers["content-type"] == "application/x-www-form-urlencoded")
                    let body = String(decoding: post.body, as: UTF8.self)
                    let token = String(body.dropFirst("logout_token=".count))
                    let verified: JSONValue? = try await codec.claims(of: token, as: .logoutToken, for: application)
                    let claims = try #require(verified, "\(body)")
                    #expect(claims.keys == ["iss", "sub", "aud", "iat", "exp", "jti", "sid", "events"])
                    for member in ["iss", "sub", "aud", "sid"] {
                        #expect(claims[member] == identity[member], "\(name)")
                    }
                    #expect(claims["events"] == ["http://schemas.openid.net/event/backchannel-logout": [:]])
                    #expect(
                        (claims["exp"].integer ?? 0) - (claims["iat"].integer ?? 0) == 120)
                    // A logout token is no hint and no bearer.
                    #expect(try await party.logout(["id_token_hint": token], cookie: visit.cookie).status == 400)
                    #expect(try await party.userInfo(token).isOAuthError(401, "invalid_token"))
                }
            }
        }
    }

    @Test func `a client with offline access is told of the sign-out, and keeps its session`() async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with(application: RelyingParty.configuration(backchannel: sink.url)) { server in
                let visit = try await Self.visit(RelyingParty(server))
                let hint = visit.tokens["id_token"].string ?? ""
                #expect(try await visit.party.logout(["id_token_hint": hint], cookie: visit.cookie).status == 200)
                try await eventually("the client is told") { sink.posts.count == 1 }
                let next = try await visit.party.refresh(visit.refreshToken)
                #expect(next.status == 200)
                // The later end of that session is told too.
                let revoked = ["token": next["refresh_token"].string ?? ""]
                #expect(try await visit.party.post("/oauth/revoke", revoked).status == 200)
                try await eventually("the client is told again") { sink.posts.count == 2 }
            }
        }
    }

    @Test func `a client is told of a sign-out after the end that its session had at first`() async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with(application: RelyingParty.configuration(backchannel: sink.url)) { server in
                let visit = try await Self.visit(RelyingParty(server), scope: "openid")
                let hint = visit.tokens["id_token"].string ?? ""
                // The browser session has been used since, and lasts longer.
                try await server.age("sessions", "expires_at", by: "3 days", where: "kind = 'client'")
                _ = try await server.sweep()
                #expect(try await visit.party.logout(["id_token_hint": hint], cookie: visit.cookie).status == 200)
                try await eventually("the client is told") { sink.posts.count == 1 }
                let body = String(decoding: try #require(sink.posts.last).body, as: UTF8.self)
                let token = try DecodedToken(String(body.dropFirst("logout_token=".count)))
                #expect(try token.claims["sid"] == DecodedToken(hint).claims["sid"])
            }
        }
    }

    @Test func `expiry is not told, and neither is a session of a client without a URI`() async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with(application: RelyingParty.configuration(backchannel: sink.url)) { server in
                var loose = RelyingParty(server)
                loose.client = "loose"
                let other = try await Self.visit(loose, scope: "openid")
                _ = try await loose.post("/oauth/revoke", ["token": other.accessToken])
                let visit = try await Self.visit(RelyingParty(server))
                try await server.execute("UPDATE sessions SET expires_at = now() WHERE kind <> 'api'")
                let everywhere: JSONValue = ["scope": "global"]
                _ = try await visit.party.api.post("/auth/logout", everywhere, bearer: visit.person.accessToken)
                #expect(try await server.count("SELECT count(*) FROM webhook_deliveries") == 1)
            }
        }
    }

    @Test func `a refused token is given up and audited`() async throws {
        try await WebhookSink.with({ _, _ in .status(400) }) { sink in
            try await TestServer.with(application: RelyingParty.configuration(backchannel: sink.url)) { server in
                let visit = try await Self.visit(RelyingParty(server))
                _ = try await visit.party.post("/oauth/revoke", ["token": visit.refreshToken])
                try await eventually("the token is given up") {
                    try await server.count(
                        """
                        SELECT count(*) FROM audit_events
                         WHERE event = 'logout.undelivered' AND details = '{"client": "web"}'
                        """) == 1
                }
                #expect(
                    try await server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE failure = 'http-400' AND failed_at IS NOT NULL")
                        == 1)
                #expect(sink.posts.count == 1)
            }
        }
    }

    @Test func `a private host is not called`() async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with(
                application: RelyingParty.configuration(backchannel: sink.url), network: "allowPrivateHosts: false"
            ) { server in
                let visit = try await Self.visit(RelyingParty(server))
                _ = try await visit.party.post("/oauth/revoke", ["token": visit.refreshToken])
                try await eventually("the attempt fails") {
                    try await server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE failure = 'unreachable-forbidden'") == 1
                }
                #expect(sink.posts.isEmpty)
            }
        }
    }

    @Test func `other failures are repeated after 5 s, 30 s, 2 min and 7 min`() throws {
        let delays = (0...5).map {
            LogoutHandler.settings.retry.delay(
                after: .gatewayDeferred(status: 404), attempts: $0, age: .zero, fraction: 0.5)
        }
        #expect(delays == [.seconds(5), .seconds(30), .seconds(120), .seconds(420), nil, nil])
    }

    @Test func `a sign-out that races with the redemption of a code leaves no session and tells the client`()
        async throws
    {
        try await WebhookSink.with { sink in
            try await TestServer.with(application: RelyingParty.configuration(backchannel: sink.url)) { server in
                let party = RelyingParty(server)
                var told = 0
                for round in 0..<10 {
                    let person = try await party.api.register(at: server)
                    let cookie = try await party.browser(of: person)
                    let scope = round.isMultiple(of: 2) ? "openid" : "openid offline_access"
                    let code = try await party.code(["scope": scope], cookie: cookie)
                    let browser = try #require(
                        try await server.text(
                            "SELECT id::text FROM sessions WHERE uid = $1 AND kind = 'browser'",
                            [.uuid(UUID(uuidString: person.uid))]))
                    async let redeemed = party.redeem(code)
                    async let ended = party.api.delete("/auth/sessions/\(browser)", bearer: person.accessToken)
                    let (tokens, end) = (try await redeemed, try await ended)
                    #expect(end.status == 204)
                    guard tokens.status == 200 else {
                        #expect(tokens.isOAuthError(400, "invalid_grant"))
                        continue
                    }
                    told += 1
                    let isOffline = tokens["refresh_token"].string != nil
                    #expect(try await party.isActive(tokens["access_token"].string ?? "") == isOffline)
                }
                let expected = told
                try await eventually("the client is told \(expected) times") { sink.posts.count == expected }
            }
        }
    }
}
