import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// What registered clients can do like configured ones: sign assertions, end people's sessions, be told of their end.
struct RegisteredClientTests {
    private static let configuration = RelyingParty.registration("mode: open, scopes: [openid, email, offline_access]")

    private static func assertion(of id: String, by key: TestAuthority) throws -> [String: String] {
        let now = Int64(Date().timeIntervalSince1970)
        let claims: [String: JSONValue] = [
            "iss": .string(id), "sub": .string(id), "aud": .string(PageBrowser.issuer),
            "jti": .string(UUID().uuidString), "iat": .integer(now), "exp": .integer(now + 120),
        ]
        return [
            "client_assertion": try key.token(claims), "grant_type": "authorization_code", "code": "x",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "redirect_uri": "https://rp.example/cb",
        ]
    }

    @Test func `an assertion is verified by the registered keys and algorithm alone`() async throws {
        let (key, other, rsa) = (try TestAuthority(), try TestAuthority(), try TestAuthority(.rs256))
        try await UpstreamServer.with { upstream in
            let url = "\(upstream.url)/keys"
            upstream.service.answer(url) { _ in .json(["keys": [key.publicKey, rsa.publicKey]]) }
            try await TestServer.with(application: Self.configuration) { server in
                let party = RelyingParty(server)
                for keys: [String: JSONValue] in [["jwks": key.keySet], ["jwks_uri": .string(url)]] {
                    let metadata: [String: JSONValue] = [
                        "redirect_uris": ["https://rp.example/cb"], "token_endpoint_auth_method": "private_key_jwt",
                        "token_endpoint_auth_signing_alg": "ES256",
                    ]
                    let answer = try await party.register(.object(metadata.merging(keys) { $1 }))
                    let id = try #require(answer["client_id"].string, "\(answer.text)")
                    func present(_ key: TestAuthority) async throws -> APIClient.Answer {
                        try await party.post(
                            "/oauth/token", try Self.assertion(of: id, by: key), isAuthenticated: false)
                    }
                    #expect(try await present(key).isOAuthError(400, "invalid_grant"))
                    #expect(try await present(other).isOAuthError(401, "invalid_client"))
                    #expect(try await present(rsa).isOAuthError(401, "invalid_client"))
                }
            }
            try await TestServer.with(application: Self.configuration, network: "allowPrivateHosts: false") { server in
                let party = RelyingParty(server)
                let answer = try await party.register([
                    "redirect_uris": ["https://rp.example/cb"], "token_endpoint_auth_method": "private_key_jwt",
                    "jwks_uri": .string(url),
                ])
                let form = try Self.assertion(of: answer["client_id"].string ?? "", by: key)
                let refused = try await party.post("/oauth/token", form, isAuthenticated: false)
                #expect(refused.isOAuthError(503, "temporarily_unavailable"), "\(refused.text)")
            }
        }
    }

    @Test func `a registered client is told that a session has ended`() async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with(application: Self.configuration) { server in
                let ada = try await APIClient(server).register(at: server)
                let answer = try await RelyingParty(server).register([
                    "redirect_uris": ["https://rp.example/cb"], "backchannel_logout_uri": .string(sink.url),
                ])
                let party = try RelyingParty(server).registered(answer)
                try await party.consent(of: ada)
                let cookie = try await party.browser(of: ada)
                let tokens = try await party.redeem(party.code(cookie: cookie))
                let hint = try #require(tokens["id_token"].string, "\(tokens.text)")
                #expect(try await party.logout(["id_token_hint": hint], cookie: cookie).status == 200)
                try await eventually("the client is told") { !sink.posts.isEmpty }
            }
        }
    }

    @Test func `a client that has registered itself reaches no private host, except in development`() async throws {
        let key = try TestAuthority()
        try await UpstreamServer.with { upstream in
            upstream.service.answer("\(upstream.url)/keys") { _ in .json(key.keySet) }
            upstream.service.answer("\(upstream.url)/logout") { _ in FetchResponse(status: 204, body: []) }
            let database = try await TemporaryPostgres.database(migrations: Migrations.all)
            let ada = try await TestServer.with(database: database, application: Self.configuration) { server in
                let visitor = RelyingParty(server)
                let ada = try await visitor.api.register(at: server)
                let party = try visitor.registered(
                    try await visitor.register([
                        "redirect_uris": ["https://rp.example/cb"],
                        "backchannel_logout_uri": .string("\(upstream.url)/logout"),
                    ]))
                try await party.consent(of: ada)
                let tokens = try await party.redeem(party.code(cookie: party.browser(of: ada)))
                try #require(tokens.status == 200, "\(tokens.text)")
                return ada
            }
            // The network of the test server allows private hosts; only `development` is missing.
            try await TestServer.with(
                database: database, server: "trustedProxies: [\"127.0.0.1/32\"]", application: Self.configuration
            ) { server in
                var visitor = RelyingParty(server)
                visitor.api.headers = ["x-forwarded-proto": "https"]
                let signing = try await visitor.register([
                    "redirect_uris": ["https://rp.example/cb"], "token_endpoint_auth_method": "private_key_jwt",
                    "jwks_uri": .string("\(upstream.url)/keys"),
                ])
                let id = try #require(signing["client_id"].string, "\(signing.text)")
                let refused = try await visitor.post(
                    "/oauth/token", try Self.assertion(of: id, by: key), isAuthenticated: false)
                #expect(refused.isOAuthError(503, "temporarily_unavailable"), "\(refused.text)")
                let out = try await visitor.api.post(
                    "/auth/logout", ["scope": "global"], bearer: ada.accessToken)
                #expect(out.status == 204, "\(out.text)")
                try await eventually("the attempt fails") {
                    try await server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE failure = 'unreachable-forbidden'") == 1
                }
            }
            #expect(upstream.service.requests.isEmpty)
        }
    }

    /// The module `-server-rotate-keys` of the plan Dynamic OP.
    @Test func `ID tokens are signed with a new key after a rotation, and both are published`() async throws {
        try await TestServer.with(application: Self.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let answer = try await RelyingParty(server).register(["redirect_uris": ["https://rp.example/cb"]])
            let party = try RelyingParty(server).registered(answer)
            try await party.consent(of: ada)
            let cookie = try await party.browser(of: ada)
            func kid() async throws -> String {
                let tokens = try await party.redeem(party.code(cookie: cookie))
                return try SigningHeader(try #require(tokens["id_token"].string, "\(tokens.text)")).kid
            }
            let old = try await kid()
            try await server.backend.keys.rotate(server.application())
            let new = try await kid()
            #expect(old != new)
            #expect(try await party.api.publishedKeys().isSuperset(of: [old, new]))
        }
    }
}
