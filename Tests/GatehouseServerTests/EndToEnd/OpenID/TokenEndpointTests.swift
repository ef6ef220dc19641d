import Crypto
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing
@testable import Tokens

@testable import GatehouseServer

/// The token endpoint and what its tokens are good for.
struct TokenEndpointTests {
    @Test func `a code becomes an access token and an ID token`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            let answer = try await party.redeem(try await party.code(cookie: cookie))
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.json.keys == ["access_token", "token_type", "expires_in", "scope", "id_token"])
            #expect(answer["token_type"] == "Bearer" && answer["scope"] == "openid email")
            #expect(answer.headers.first(name: "cache-control") == "no-store")
            #expect(answer.headers.first(name: "access-control-allow-origin") == "*")
            let access = try DecodedToken(answer["access_token"].string ?? "")
            let identity = try DecodedToken(answer["id_token"].string ?? "")
            #expect(access.header["typ"] == "at+jwt" && identity.header["typ"] == "JWT")
            #expect(access.header["kid"] != identity.header["kid"])
            for token in [access, identity] {
                #expect(token.claims["sub"].string == person.uid && token.claims["iss"] == "http://127.0.0.1:1")
                #expect(token.claims["acr"] == "1" && token.claims["sid"].string != nil)
                let keys = try await party.api.send(.GET, "/.well-known/jwks.json")["keys"].array ?? []
                let key = try #require(keys.first { $0["kid"] == token.header["kid"] })
                #expect(try token.isSigned(by: key))
            }
            #expect(access.claims["aud"] == ["http://127.0.0.1:1"] && access.claims["client_id"] == "web")
            #expect(access.claims["email"] == .null)
            #expect(identity.claims["aud"] == "web" && identity.claims["nonce"] == "n")
            let info = try await party.userInfo(access.text)
            #expect(info.json.keys == ["sub", "email", "email_verified"] && info["email"].string == person.email)
        }
    }

    @Test(arguments: ["RS256, rsaBits: 2048", "ES256", "EdDSA"])
    func `at_hash is the left half of the hash that the algorithm uses`(algorithm: String) async throws {
        try await TestServer.with(
            application: RelyingParty.configuration, tokens: "algorithm: \(algorithm)"
        ) { server in
            let party = RelyingParty(server)
            let tokens = try await party.redeem(party.code(cookie: party.browser(of: party.api.register(at: server))))
            let access = Data((tokens["access_token"].string ?? "").utf8)
            let half =
                algorithm == "EdDSA"
                ? Array(SHA512.hash(data: access)).prefix(32) : Array(SHA256.hash(data: access)).prefix(16)
            let claim = try DecodedToken(tokens["id_token"].string ?? "").claims["at_hash"].string
            #expect(claim == Digest.base64URL(half))
        }
    }

    @Test func `another provider's word does not make two factors`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            for (stated, methods) in [("{pwd,mfa}", ["pwd"]), ("{mfa}", ["fed"])] as [(String, [JSONValue])] {
                try await server.execute(
                    "UPDATE sessions SET methods = $1::text::text[] WHERE kind = 'browser'", [.text(stated)])
                let tokens = try await party.redeem(party.code(cookie: cookie))
                for name in ["access_token", "id_token"] {
                    let claims = try DecodedToken(tokens[name].string ?? "").claims
                    #expect(claims["amr"] == .array(methods) && claims["acr"] == "1", "\(name)")
                }
            }
        }
    }

    @Test func `the locale is one tag`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let expected: [(String, JSONValue)] = [
                ("de;q=0.8,fr-ca,*;q=0.1", "fr-CA"), ("zh-hant-tw", "zh-Hant-TW"), ("*", .null), ("d\u{e9}", .null),
            ]
            for (header, locale) in expected {
                try await server.execute("UPDATE accounts SET locale = $1", [.text(header)])
                let tokens = try await party.redeem(party.code(["scope": "openid profile"], cookie: cookie))
                #expect(try await party.userInfo(tokens["access_token"].string ?? "")["locale"] == locale, "\(header)")
            }
        }
    }

    @Test func `twenty redemptions of one code open one session`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let code = try await party.code(["scope": "openid offline_access"], cookie: cookie)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await party.redeem(code).status } }
                return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 1, 400: 19])
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'client'") == 1)
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens WHERE scopes IS NOT NULL") == 1)
        }
    }

    @Test func `two codes of one browser session move one client session`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let codes = [try await party.code(cookie: cookie), try await party.code(cookie: cookie)]
            let sessions = try await withThrowingTaskGroup(of: JSONValue.self) { group in
                for code in codes {
                    group.addTask {
                        let answer = try await party.redeem(code)
                        return try DecodedToken(answer["id_token"].string ?? "").claims["sid"]
                    }
                }
                return try await group.reduce(into: Set<JSONValue>()) { $0.insert($1) }
            }
            #expect(sessions.count == 1)
        }
    }

    @Test func `a code is used up by a client that presents it, right or wrong`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let wrong = [
                ["code_verifier": String(repeating: "v", count: 43)], ["code_verifier": ""],
                ["redirect_uri": "https://photos.example/other"], ["redirect_uri": ""],
            ]
            for change in wrong {
                let code = try await party.code(cookie: cookie)
                let error = change["redirect_uri"] == "" ? "invalid_request" : "invalid_grant"
                #expect(try await party.redeem(code, change).isOAuthError(400, error), "\(change)")
                #expect(try await party.redeem(code).isOAuthError(400, "invalid_grant"), "\(change)")
            }
            var other = party
            other.client = "loose"
            let stolen = try await party.code(cookie: cookie)
            #expect(try await other.redeem(stolen).isOAuthError(400, "invalid_grant"))
            #expect(try await party.redeem(stolen).isOAuthError(400, "invalid_grant"))
            other.client = "jobs"
            let shown = try await party.code(cookie: cookie)
            #expect(try await other.redeem(shown).isOAuthError(400, "unauthorized_client"))
            #expect(try await party.redeem(shown).isOAuthError(400, "invalid_grant"), "without the grant, too")
            // A client that is not authenticated, or only says its name, uses nothing up.
            let code = try await party.code(cookie: cookie)
            var impostor = party
            impostor.secret = "not the secret of this client, but as long"
            #expect(try await impostor.redeem(code).isOAuthError(401, "invalid_client"))
            #expect(try await RelyingParty.public(server).redeem(code).isOAuthError(400, "invalid_grant"))
            #expect(try await party.redeem(code).status == 200)
        }
    }

    @Test func `a verifier is refused where no challenge was sent`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var party = RelyingParty(server)
            party.client = "loose"
            let cookie = try await party.browser(of: party.api.register(at: server))
            let omitted: Set = ["code_challenge", "code_challenge_method"]
            let code = try await party.code(omitting: omitted, cookie: cookie)
            #expect(try await party.redeem(code).isOAuthError(400, "invalid_grant"))
            let second = try await party.code(omitting: omitted, cookie: cookie)
            #expect(try await party.redeem(second, ["code_verifier": ""]).status == 200)
        }
    }

    @Test func `a late replay ends the client's session`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let code = try await party.code(["scope": "openid offline_access"], cookie: cookie)
            let answer = try await party.redeem(code)
            let (access, refresh) = (answer["access_token"].string ?? "", answer["refresh_token"].string ?? "")
            #expect(try await party.redeem(code).isOAuthError(400, "invalid_grant"))
            #expect(try await party.userInfo(access).status == 200)
            try await server.age("authorization_codes", "redeemed_at", by: "3 seconds")
            #expect(try await party.redeem(code).isOAuthError(400, "invalid_grant"))
            #expect(try await party.userInfo(access).isOAuthError(401, "invalid_token"))
            #expect(try await party.refresh(refresh).isOAuthError(400, "invalid_grant"))
            #expect(try await party.code(cookie: cookie) != code)
        }
    }

    @Test func `a code is nothing once it has expired, or its session or account is not live`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            let late = try await party.code(cookie: cookie)
            try await server.age("authorization_codes", "expires_at", by: "61 seconds")
            #expect(try await party.redeem(late).isOAuthError(400, "invalid_grant"))
            let ofDisabled = try await party.code(cookie: cookie)
            try await server.setDisabled(true, person)
            #expect(try await party.redeem(ofDisabled).isOAuthError(400, "invalid_grant"))
        }
    }

    @Test func `a client's refresh token rotates, narrows and works nowhere else`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            let scope = "openid profile email offline_access"
            let first = try await party.redeem(try await party.code(["scope": scope], cookie: cookie))
            let token = try #require(first["refresh_token"].string)
            expectError(
                try await party.api.post("/auth/refresh", ["refreshToken": .string(token)]), 401,
                "INVALID_REFRESH_TOKEN")
            // A server of the version before clients looks for this hash, and takes what it finds for a token of its own.
            let hash = SHA256.hash(data: try #require(Base64URL.decode(Array(token.utf8))))
            #expect(
                try await server.count("SELECT count(*) FROM refresh_tokens WHERE hash = $1", [.bytes(Array(hash))])
                    == 0)
            #expect(try await RelyingParty.public(server).refresh(token).isOAuthError(400, "invalid_grant"))
            var neighbour = party
            neighbour.client = "loose"
            #expect(try await neighbour.refresh(token).isOAuthError(400, "invalid_grant"))
            #expect(try await party.refresh(person.refreshToken).isOAuthError(400, "invalid_grant"))
            let second = try await party.refresh(token, ["scope": "openid"])
            #expect(second.status == 200 && second["scope"] == "openid", "\(second.text)")
            let (old, new) = (
                try DecodedToken(first["id_token"].string ?? ""), try DecodedToken(second["id_token"].string ?? "")
            )
            for claim in ["sub", "sid", "auth_time"] { #expect(old.claims[claim] == new.claims[claim]) }
            #expect(new.claims["nonce"] == .null)
            let third = try await party.refresh(second["refresh_token"].string ?? "")
            #expect(third["scope"].string == scope)
            #expect(try await party.refresh(third["refresh_token"].string ?? "", ["scope": "phone"]).status == 400)
            // The first token again, two generations later, ends the session.
            try await server.letPass(.seconds(11))
            #expect(try await party.refresh(token).isOAuthError(400, "invalid_grant"))
            #expect(try await party.userInfo(third["access_token"].string ?? "").isOAuthError(401, "invalid_token"))
            let audited = try await server.text(
                "SELECT details::text FROM audit_events WHERE event = 'session.refresh-reused'")
            #expect(audited == #"{"kind": "client", "client": "web"}"#)
        }
    }

    @Test func `a client without people gets tokens for its resource`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var jobs = RelyingParty(server)
            jobs.client = "jobs"
            let answer = try await jobs.post("/oauth/token", ["grant_type": "client_credentials"])
            #expect(answer.status == 200 && answer["scope"] == "read" && answer["expires_in"] == 600, "\(answer.text)")
            let token = try DecodedToken(answer["access_token"].string ?? "")
            #expect(token.claims["sub"] == "jobs" && token.claims["aud"] == ["https://api.photos.example"])
            #expect(token.claims["sid"] == .null)
            #expect(try await jobs.userInfo(token.text).isOAuthError(403, "insufficient_scope"))
            #expect(try await jobs.isActive(token.text))
            let revoked = try await jobs.post("/oauth/revoke", ["token": token.text])
            #expect(revoked.isOAuthError(400, "unsupported_token_type"))
            let refused: [([String: String], String)] = [
                (["scope": "openid"], "invalid_scope"), (["resource": "https://other.example"], "invalid_target"),
                (["grant_type": "password"], "unsupported_grant_type"), (["grant_type": ""], "invalid_request"),
                (["grant_type": "refresh_token", "refresh_token": "x"], "unauthorized_client"),
            ]
            for (change, error) in refused {
                let form = ["grant_type": "client_credentials"].merging(change) { $1 }
                #expect(try await jobs.post("/oauth/token", form).isOAuthError(400, error), "\(change)")
            }
        }
    }

    @Test func `the subject of a pairwise client is its own, and stable`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty.public(server)
            let person = try await party.api.register(at: server)
            let cookie = try await party.browser(of: person)
            // The client is a third party, so the person must have allowed it something.
            #expect(
                try await party.authorize(["prompt": "none"], cookie: cookie).returned("error") == "consent_required")
            try await party.consent(of: person)
            var subjects: Set<String> = []
            for _ in 0..<2 {
                let answer = try await party.redeem(try await party.code(cookie: cookie))
                let token = try DecodedToken(answer["id_token"].string ?? "")
                subjects.insert(token.claims["sub"].string ?? "")
                #expect(try await party.userInfo(answer["access_token"].string ?? "")["sub"] == token.claims["sub"])
            }
            #expect(subjects.count == 1 && !subjects.contains(person.uid) && !subjects.contains(""))
        }
    }
}
