import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Synchronization
import Testing

/// OpenID Connect and OAuth 2.0 against scripted servers over HTTP.
struct OpenIDConnectSignInTests {
    /// An issuer that records requests to `/token`.
    final class Issuer: Sendable {
        let upstream: UpstreamServer
        let authority = Mutex<TestAuthority?>(nil)
        /// Additional claims of the ID token for the next code.
        let claims = Mutex<[String: JSONValue]>([:])

        init(_ upstream: UpstreamServer) throws {
            self.upstream = upstream
            let url = upstream.url
            try rotate("first")
            upstream.service.answer(url + "/.well-known/openid-configuration") { _ in
                .json([
                    "issuer": .string(url), "authorization_endpoint": .string(url + "/authorize"),
                    "token_endpoint": .string(url + "/token"), "jwks_uri": .string(url + "/keys"),
                    "id_token_signing_alg_values_supported": ["RS256", "ES256"],
                    "code_challenge_methods_supported": ["S256"],
                    "authorization_response_iss_parameter_supported": true,
                ])
            }
            upstream.service.answer(url + "/keys") { [self] _ in .json(signer.keySet) }
            upstream.service.answer(url + "/token") { [self] _ in
                let token = try? self.token(claims.withLock { $0 })
                return .json(["access_token": "a", "token_type": "Bearer", "id_token": .string(token ?? "")])
            }
        }

        var signer: TestAuthority {
            guard let authority = authority.withLock({ $0 }) else { preconditionFailure("has no key yet") }
            return authority
        }

        func rotate(_ keyID: String) throws {
            let new = try TestAuthority(keyID: keyID)
            authority.withLock { $0 = new }
        }

        func all(_ more: [String: JSONValue]) -> [String: JSONValue] {
            let now = Int64(Date().timeIntervalSince1970)
            let standard: [String: JSONValue] = [
                "iss": .string(upstream.url), "aud": "client", "sub": "ada", "iat": .integer(now),
                "exp": .integer(now + 600),
            ]
            return standard.merging(more) { $1 }
        }

        func token(_ more: [String: JSONValue] = [:]) throws -> String { try signer.token(all(more)) }
    }

    private func with(
        settings: String = "trustEmail: true", others: String = "",
        _ body: @Sendable @escaping (TestServer, Issuer) async throws -> Void
    ) async throws {
        try await UpstreamServer.with { upstream in
            let issuer = try Issuer(upstream)
            try await TestServer.with(
                application: #"redirectURIs: ["demo://oauth/callback"]"#,
                providers: """
                    google: { kind: oidc, issuer: "\(upstream.url)", clientID: client, clientSecret: secret, \(settings) }
                    \(others.replacing("URL", with: upstream.url))
                    """
            ) { server in
                try await body(server, issuer)
            }
        }
    }

    private func web(_ server: TestServer, _ provider: String = "google") -> RedirectClient {
        var client = RedirectClient(api: APIClient(server))
        client.provider = provider
        return client
    }

    private func native(
        _ server: TestServer, _ token: String, nonce: String? = nil
    ) async throws -> APIClient.Answer {
        var body: [String: JSONValue] = ["idToken": .string(token)]
        body["nonce"] = nonce.map { .string($0) }
        return try await APIClient(server).post("/auth/oauth/google/token", .object(body))
    }

    @Test func `a code flow configured by the issuer only`() async throws {
        try await with { server, issuer in
            let client = web(server)
            let flow = try await client.begin()
            #expect(flow.url.path == "/authorize" && flow.url.query("code_challenge_method") == "S256")
            #expect(flow.url.query("client_id") == "client" && flow.url.query("scope")?.hasPrefix("openid") == true)
            let nonce = flow.url.query("nonce") ?? ""
            issuer.claims.withLock {
                $0 = [
                    "nonce": .string(nonce), "email": "ada@example.com", "email_verified": true,
                    "name": "Ada Lovelace",
                ]
            }
            let arrival = try await client.callback(flow, ["code": "c", "iss": issuer.upstream.url]).redirect
            let answer = try await client.redeem(arrival.query("code"))
            #expect(answer.status == 200, "\(answer.text) \(arrival)")
            #expect(answer["user"]["email"] == "ada@example.com" && answer["user"]["displayName"] == "Ada Lovelace")
            let asked = issuer.upstream.service.requests.last { $0.form != nil }
            #expect(asked?.form?["code"] == "c")
            #expect(CodeChallenge.s256(of: asked?.form?["code_verifier"] ?? "") == flow.url.query("code_challenge"))
            #expect(asked?.headers["authorization"]?.hasPrefix("Basic ") == true)
        }
    }

    @Test func `responses of another issuer and tokens of another flow are refused`() async throws {
        try await with { server, issuer in
            let client = web(server)
            for parameters in [["code": "c", "iss": "https://evil.example"], ["code": "c"]] {
                let arrival = try await client.callback(client.begin(), parameters).redirect
                #expect(arrival.query("error") == "access_denied")
            }
            #expect(issuer.upstream.count("/token") == 0, "the code is not sent")
            issuer.claims.withLock { $0 = ["nonce": "another"] }
            let arrival = try await client.callback(
                client.begin(), ["code": "c", "iss": issuer.upstream.url]
            ).redirect
            #expect(arrival.query("error") == "access_denied")
        }
    }

    @Test func `native tokens: attacks are refused and cause one fetch of keys, rotation is picked up`() async throws {
        try await with { server, issuer in
            for (name, token) in try issuer.signer.attacks(on: issuer.all([:]), now: Date()) {
                expectError(try await native(server, token), 401, "INVALID_TOKEN", name)
            }
            #expect(try await native(server, issuer.token()).status == 200)
            let before = issuer.upstream.count("/keys")
            #expect(before <= 2)
            let strangers = try (0..<40).map { try TestAuthority(keyID: "stranger\($0)").token(issuer.all([:])) }
            let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                for token in strangers { group.addTask { try await native(server, token) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.code == "INVALID_TOKEN" })
            #expect(issuer.upstream.count("/keys") <= before + 1)
            let others = issuer.upstream.service.requests.filter { !$0.url.hasSuffix("/keys") }.map(\.url)
            #expect(Set(others).isSubset(of: [issuer.upstream.url + "/.well-known/openid-configuration"]))
        }
        try await with { server, issuer in
            #expect(try await native(server, issuer.token()).status == 200)
            try issuer.rotate("second")
            #expect(try await native(server, issuer.token()).status == 200)
            #expect(issuer.upstream.count("/keys") == 2)
        }
    }

    @Test func `an issuer that is down affects only its own sign-ins, and cached keys stay in use`() async throws {
        try await with(others: "other: { kind: scripted }") { server, issuer in
            #expect(try await native(server, issuer.token()).status == 200)
            issuer.upstream.service.condition = .down
            #expect(try await native(server, issuer.token()).status == 200, "keys are at hand")
            let metrics = try await APIClient(server).send(.GET, "/metrics").text
            #expect(metrics.contains(#"provider="google""#), "\(metrics)")
        }
    }

    @Test(arguments: ScriptedService.Condition.allCases.filter { $0 != .working })
    func `an issuer that is down or answers nonsense is unavailable`(condition: ScriptedService.Condition) async throws
    {
        try await with(others: "other: { kind: scripted }") { server, issuer in
            let client = APIClient(server)
            let guest = try await client.post("/auth/anonymous")["accessToken"].string
            issuer.upstream.service.condition = condition
            let body: JSONValue = ["idToken": .string(try issuer.token())]
            let reauthentication: JSONValue = ["provider": "google", "idToken": body["idToken"]]
            let authorization: JSONValue = [
                "redirect_uri": "demo://oauth/callback", "code_challenge": .string(CodeChallenge.s256(of: "v")),
            ]
            let calls: [(String, APIClient.Answer)] = [
                ("native", try await native(server, issuer.token())),
                ("authorize", try await web(server).authorize()),
                ("link", try await client.post("/auth/identities/google", body, bearer: guest)),
                (
                    "link by redirect",
                    try await client.post("/auth/identities/google/authorize", authorization, bearer: guest)
                ),
                ("reauthenticate", try await client.post("/auth/reauthenticate", reauthentication, bearer: guest)),
            ]
            // `expectError` requires a `Retry-After` header with each 503.
            for (name, answer) in calls { expectError(answer, 503, "PROVIDER_UNAVAILABLE", name) }
            #expect(try await client.present(.somebody()).status == 200, "another provider's")
        }
    }

    @Test(arguments: ScriptedService.Condition.allCases.filter { $0 != .working })
    func `errors after a callback are passed to the app`(condition: ScriptedService.Condition) async throws {
        try await with { server, issuer in
            let client = web(server)
            let flow = try await client.begin()
            issuer.upstream.service.condition = condition
            let arrival = try await client.callback(flow, ["code": "c", "iss": issuer.upstream.url]).redirect
            #expect(arrival.query("error") == "temporarily_unavailable", "\(arrival)")
        }
    }

    @Test func `the document names the code where a provider may be down`() async throws {
        try await TestServer.with { server in
            let paths = try await APIClient(server).send(.GET, "/openapi.json")["paths"]
            func codes(_ path: String, _ method: String) -> String {
                let answer = paths["/api/v1/auth/" + path][method]["responses"]["503"]
                return answer["description"].string ?? ""
            }
            for path in [
                "apple", "custom", "mobile-network", "oauth/{provider}/token", "identities/{identity}",
                "identities/{identity}/authorize", "reauthenticate", "apple/notifications",
            ] {
                #expect(codes(path, "post").contains("PROVIDER_UNAVAILABLE"), "\(path)")
            }
            for method in ["get", "post"] {
                #expect(codes("oauth/{provider}/authorize", method).contains("PROVIDER_UNAVAILABLE"))
            }
            #expect(!codes("login", "post").contains("PROVIDER_UNAVAILABLE"))
        }
    }

    @Test func `email_verified is a truth value beside the address itself`() async throws {
        try await with { server, issuer in
            for (index, claim) in ([.null, "true", 1, false] as [JSONValue]).enumerated() {
                let answer = try await native(
                    server,
                    issuer.token([
                        "sub": .string("s\(index)"), "email": .string("s\(index)@example.com"), "email_verified": claim,
                    ]))
                #expect(answer["user"]["emailVerified"] == false, "\(claim)")
            }
            let answer = try await native(
                server, issuer.token(["sub": "t", "email": "t@example.com", "email_verified": true]))
            #expect(answer["user"]["emailVerified"] == true)
        }
    }

    @Test func `a first sign-in from twenty devices at once makes one account`() async throws {
        try await with { server, issuer in
            let token = try issuer.token(["email": "ada@example.com", "email_verified": true])
            let answers = try await atOnce(20) { try await native(server, token) }
            #expect(answers.allSatisfy { $0.status == 200 }, "\(answers.map(\.status))")
            #expect(Set(answers.map { $0["user"]["id"] }).count == 1)
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
        }
    }

    @Test func `plain OAuth 2_0 by endpoints and claim paths; a profile without a subject is refused`() async throws {
        let corp = """
            corp: { kind: oauth2, authorizationEndpoint: "URL/oauth/authorize", tokenEndpoint: "URL/oauth/token", \
            userInfoEndpoint: "URL/me", clientID: client, clientSecret: secret, scopes: [profile], \
            claims: { providerUid: data.id, email: data.mail, emailVerified: null, displayName: data.name } }
            """
        try await with(others: corp) { server, issuer in
            let (url, service) = (issuer.upstream.url, issuer.upstream.service)
            service.answer(url + "/oauth/token") { _ in .json(["access_token": "opaque", "token_type": "bearer"]) }
            service.answer(url + "/me") { request in
                guard request.headers["authorization"] == "Bearer opaque" else { return .json([:], status: 401) }
                return .json(["data": ["id": 7, "mail": "ada@example.com", "name": "Ada"]])
            }
            let client = web(server, "corp")
            let arrival = try await client.callback(client.begin(), ["code": "c"]).redirect
            let answer = try await client.redeem(arrival.query("code"))
            #expect(answer["auth"]["providerUid"] == "7" && answer["user"]["displayName"] == "Ada", "\(answer.text)")
            #expect(answer["user"]["emailVerified"] == false)
            for subject: JSONValue in ["", .null, false, [:]] {
                service.answer(url + "/me") { _ in .json(["data": ["id": subject]]) }
                let refused = try await client.callback(client.begin(), ["code": "c"]).redirect
                #expect(refused.query("error") == "access_denied", "\(subject)")
            }
            expectError(
                try await APIClient(server).post("/auth/oauth/corp/token", ["idToken": "x"]), 404,
                "UNSUPPORTED_PROVIDER")
        }
    }
}
