import Foundation
import GatehouseTesting
import Logging
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The limit `token`: calls of public clients and failures are counted, calls of confidential clients are not.
struct ClientGuessTests {
    private func with(_ body: @Sendable @escaping (RelyingParty) async throws -> Void) async throws {
        try await TestServer.with(
            application: RelyingParty.configuration, rateLimits: "{ token: 3/h, general: off }"
        ) { server in
            var jobs = RelyingParty(server)
            jobs.client = "jobs"
            try await body(jobs)
        }
    }

    private static let grant = ["grant_type": "client_credentials"]

    @Test func `wrong secrets are limited, and stop no client that authenticates`() async throws {
        try await with { jobs in
            var impostor = jobs
            impostor.secret = "not the secret of this client, but as long"
            for client in ["jobs", "nobody", "web"] {
                impostor.client = client
                #expect(try await impostor.post("/oauth/token", Self.grant).isOAuthError(401, "invalid_client"))
            }
            for client in ["jobs", "nobody"] {
                impostor.client = client
                let answer = try await impostor.post("/oauth/token", Self.grant)
                #expect(answer.isOAuthError(429, "temporarily_unavailable"), "\(client)")
                #expect(answer.headers.first(name: "retry-after") != nil)
            }
            // A neighbour in the network of an impostor goes on.
            for _ in 0..<8 { #expect(try await jobs.post("/oauth/token", Self.grant).status == 200) }
        }
    }

    @Test func `clients that authenticate push as many requests as they need`() async throws {
        try await TestServer.with(
            application: RelyingParty.configuration, rateLimits: "{ token: 3/h, authorize: 1/h, general: off }"
        ) { server in
            let (party, gallery) = (RelyingParty(server), RelyingParty.public(server))
            for _ in 0..<8 { #expect(try await party.post("/oauth/par", party.parameters()).status == 201) }
            for number in 1...4 {
                let pushed = try await gallery.post("/oauth/par", gallery.parameters())
                #expect(pushed.status == (number < 4 ? 201 : 429), "\(number): \(pushed.text)")
            }
            #expect(try await party.post("/oauth/par", party.parameters()).status == 201)
            #expect(try await party.authorize(cookie: nil).status == 303)
            #expect(try await party.authorize(cookie: nil).status == 429)
        }
    }

    @Test func `unreadable forms count as failures, and limit no client that has authenticated`() async throws {
        try await with { jobs in
            let form: HTTPHeaders = ["content-type": "application/x-www-form-urlencoded"]
            let faults = [("", "a=1&a=2"), ("?code=a&code=b", ""), ("?client_secret=x", ""), ("", "a=%ff")]
            for (index, (query, body)) in faults.enumerated() {
                let answer = try await jobs.api.send(
                    .POST, "/oauth/token\(query)", raw: Array(body.utf8), headers: form)
                #expect(answer.status == (index < 3 ? 400 : 429), "\(index): \(answer.text)")
            }
            #expect(try await jobs.post("/oauth/token", Self.grant).status == 200)
            #expect(try await RelyingParty.public(jobs.server).refresh("x").status == 429)
        }
    }

    @Test func `calls that name a registered client are counted before it is looked up, also if they succeed`()
        async throws
    {
        let key = try TestAuthority()
        try await UpstreamServer.with { upstream in
            for path in ["/first", "/second"] {
                upstream.service.answer(upstream.url + path) { _ in .json(key.keySet) }
            }
            try await TestServer.with(
                application: RelyingParty.registration(), rateLimits: "{ token: 3/h, general: off }"
            ) { server in
                let visitor = RelyingParty(server)
                let party = try visitor.registered(
                    try await visitor.register(["redirect_uris": ["https://rp.example/cb"]]))
                func present(keysAt path: String) async throws -> Int {
                    let signing = try await visitor.register([
                        "redirect_uris": ["https://rp.example/cb"], "token_endpoint_auth_method": "private_key_jwt",
                        "jwks_uri": .string(upstream.url + path),
                    ])
                    let id = JSONValue.string(signing["client_id"].string ?? "")
                    let claims: [String: JSONValue] = [
                        "iss": id, "sub": id, "aud": .string(PageBrowser.issuer), "jti": .string(path),
                        "exp": .integer(Int64(Date().timeIntervalSince1970) + 120),
                    ]
                    let form = [
                        "client_assertion": try key.token(claims),
                        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                    ]
                    return try await visitor.post(
                        "/oauth/token", Self.grant.merging(form) { $1 }, isAuthenticated: false
                    ).status
                }
                #expect(try await party.post("/oauth/introspect", ["token": "x"]).status == 200)
                #expect(try await present(keysAt: "/first") == 400)
                #expect(try await party.post("/oauth/revoke", ["token": "x"]).status == 200)
                #expect(try await present(keysAt: "/second") == 429)
                #expect(upstream.count("/first") == 1 && upstream.count("/second") == 0)
                for path in ["/oauth/introspect", "/oauth/revoke"] {
                    let answer = try await party.post(path, ["token": "x"])
                    #expect(answer.isOAuthError(429, "temporarily_unavailable"), "\(path): \(answer.text)")
                }
                // A configured client in the same network goes on.
                #expect(try await visitor.post("/oauth/introspect", ["token": "x"]).status == 200)
            }
        }
    }

    @Test func `an id that the server never issues is an unknown client`() async throws {
        let key = try TestAuthority()
        try await TestServer.with(application: RelyingParty.software()) { server in
            let party = RelyingParty(server)
            let unique = UUID().uuidString.lowercased()
            let ids = [
                "reg~\0", "reg~\(String(repeating: "A", count: 21))\0", "dyn~CSI~\0", "dyn~CSI\0~\(unique)",
                "dyn~CSI~\(unique)\0",
            ]
            for id in ids {
                let login = Data("\(id):\(RelyingParty.secret)".utf8).base64EncodedString()
                let bySecret = try await party.post(
                    "/oauth/token", Self.grant, isAuthenticated: false, headers: ["authorization": "Basic \(login)"])
                let assertion = try key.token(["iss": .string(id), "sub": .string(id)])
                let byAssertion = try await party.post(
                    "/oauth/token",
                    Self.grant.merging([
                        "client_assertion": assertion,
                        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                    ]) { $1 }, isAuthenticated: false)
                for answer in [bySecret, byAssertion] {
                    #expect(answer.isOAuthError(401, "invalid_client"), "\(id.debugDescription): \(answer.text)")
                }
            }
        }
    }

    @Test func `the log names each wrong secret and redirect URI once, and no secret`() async throws {
        let output = CollectedOutput()
        let logger = Logger(label: "test") { LineLogHandler(.json, label: $0, level: .trace, output: output) }
        try await TestServer.with(application: RelyingParty.configuration, logger: logger) { server in
            let party = RelyingParty(server)
            var impostor = party
            impostor.secret = "a-wrong-secret-of-a-client"
            var stranger = impostor
            stranger.client = "stranger"
            let uri = "https://photos.example/other?token=a-secret-of-the-query"
            for _ in 1...2 {
                #expect(try await impostor.post("/oauth/token", Self.grant).isOAuthError(401, "invalid_client"))
                #expect(try await stranger.post("/oauth/token", Self.grant).isOAuthError(401, "invalid_client"))
                let pushed = try await party.post("/oauth/par", party.parameters(["redirect_uri": uri]))
                #expect(pushed.isOAuthError(400, "invalid_request"))
                for client in ["web", "stranger"] {
                    let asked = ["client_id": client, "redirect_uri": uri]
                    #expect(try await party.authorize(asked, cookie: nil).status == 400)
                }
            }
        }
        let lines = try output.lines.map { try LogLine($0) }.filter { $0.message == "OpenID client refused" }
        let told = Set(lines.compactMap(\.metadata).map { [$0["client"], $0["reason"], $0["redirectURI"]] })
        #expect(lines.count == 3 && lines.allSatisfy { $0.level == "notice" })
        #expect(
            told == [
                ["web", "the secret or assertion is wrong or missing", nil],
                [nil, "no client of that name is configured", nil],
                ["web", "redirect_uri is none of the client's", "https://photos.example/other"],
            ])
        for secret in ["a-wrong-secret", "a-secret-of-the-query", "stranger", RelyingParty.secret] {
            #expect(!lines.contains { "\($0)".contains(secret) }, "\(secret)")
        }
    }
}
