import Foundation
import NIOHTTP1
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Rate limits by client and by target.
struct RateLimitTests {
    /// The configuration of trusted proxies, which state the client's address.
    private static let proxied = "development: true, trustedProxies: [127.0.0.1]"

    private func login(
        _ client: APIClient, from address: String? = nil, email: String = "nobody@example.com"
    ) async throws -> APIClient.Answer {
        try await client.post(
            "/auth/login", ["email": .string(email), "password": "wrong horse"],
            headers: address.map { ["x-forwarded-for": $0] } ?? [:])
    }

    /// - Returns: the number of calls that were not refused, out of `count` sequential ones.
    private func served(of count: Int, _ call: () async throws -> APIClient.Answer) async throws -> Int {
        var served = 0
        for _ in 0..<count where try await call().status != 429 { served += 1 }
        return served
    }

    @Test(arguments: [
        ("login", "/auth/login"), ("refresh", "/auth/refresh"), ("apple", "/auth/apple"), ("logout", "/auth/logout"),
        ("register", "/auth/register"), ("anonymous", "/auth/anonymous"),
    ])
    func `each limited call has its own limit, also if calls fail`(limit: String, path: String) async throws {
        try await TestServer.with(rateLimits: "{ \(limit): 3/h }") { server in
            let client = APIClient(server)
            #expect(try await served(of: 3) { try await client.post(path) } == 3)
            let refused = try await client.post(path)
            expectError(refused, 429, "RATE_LIMITED", path)
            #expect(try (1195...1200).contains(#require(refused.retryAfter)))
            let document = try await client.send(.GET, "/openapi.json")
            #expect(document["paths"]["/api/v1" + path]["post"]["responses"].keys.contains("429"))
            let others = ["/auth/login", "/auth/refresh", "/auth/anonymous"].filter { $0 != path }
            for other in others {
                #expect(try await client.post(other).status != 429)
            }
        }
    }

    @Test func `a provider's tokens count together, however they are presented`() async throws {
        let apple = """
            apple: { clientIDs: [net.example.app], baseURL: "http://127.0.0.1:1" }
            web: { kind: apple, clientIDs: [net.example.web], baseURL: "http://127.0.0.1:1" }
            scripted: {}
            """
        try await TestServer.with(providers: apple, rateLimits: "{ apple: 3/h }") { server in
            let client = APIClient(server)
            #expect(try await served(of: 1) { try await client.post("/auth/apple") } == 1)
            for name in ["apple", "web"] {
                #expect(try await served(of: 1) { try await client.post("/auth/oauth/\(name)/token") } == 1)
            }
            for path in ["/auth/apple", "/auth/oauth/apple/token", "/auth/oauth/web/token"] {
                expectError(try await client.post(path), 429, "RATE_LIMITED", path)
            }
            #expect(try await served(of: 5) { try await client.post("/auth/oauth/scripted/token") } == 5)
            expectError(
                try await client.post("/auth/oauth/nobody/token", ["idToken": "x"]), 404, "UNSUPPORTED_PROVIDER")
            let document = try await client.send(.GET, "/openapi.json")
            let answers = document["paths"]["/api/v1/auth/oauth/{provider}/token"]["post"]["responses"]
            #expect(answers.keys.contains("429"))
        }
    }

    @Test func `redirects to a provider's pages are limited`() async throws {
        try await TestServer.with(
            application: RedirectFlowTests.application, providers: "scripted: {}", rateLimits: "{ login: off }"
        ) { server in
            let web = RedirectClient(api: APIClient(server))
            let began = ContinuousClock.now
            let answers = try await atOnce(200) { try await web.authorize() }
            // Two more are allowed each second.
            let allowed = 121 + Int((.now - began) / .milliseconds(500))
            #expect((120...allowed).contains(answers.count { $0.status == 200 }))
            #expect(answers.allSatisfy { $0.status == 200 || $0.code == "RATE_LIMITED" })
            let flows = try await server.count("SELECT count(*) FROM redirect_flows")
            #expect(flows == answers.count { $0.status == 200 })
        }
    }

    @Test func `of fifty concurrent calls on two replicas exactly five are allowed`() async throws {
        try await Replicas.with(rateLimits: "{ login: 5/h }") { replicas in
            let (first, second) = replicas.clients
            let began = ContinuousClock.now
            async let some = atOnce(25) { try await login(first) }
            async let others = atOnce(25) { try await login(second) }
            let answers = try await some + others
            try #require(.now - began < .seconds(720), "a sixth is allowed after 12 minutes")
            #expect(answers.filter { $0.code == "INVALID_CREDENTIALS" }.count == 5)
            let refused = answers.filter { $0.code == "RATE_LIMITED" }
            #expect(refused.count == 45)
            for answer in refused { #expect(try (1...720).contains(#require(answer.retryAfter))) }
        }
    }

    @Test func `after Retry-After one more call is allowed, on any replica`() async throws {
        try await Replicas.with(rateLimits: "{ login: 4/h }") { replicas in
            let (first, second) = replicas.clients
            #expect(try await served(of: 2) { try await login(first) } == 2)
            #expect(try await served(of: 2) { try await login(second) } == 2)
            let wait = try #require(try await login(first).retryAfter)
            #expect((890...900).contains(wait))

            // 885 of about 900 seconds have passed, which is too early for the next call.
            try await replicas.first.age("rate_limits", "full_at", by: "885 seconds")
            let early = try await login(second)
            #expect(early.status == 429)
            #expect(try (5...15).contains(#require(early.retryAfter)))

            // Both replicas cache their refusal, so the test asks a third one.
            try await TestServer.with(database: replicas.first.databaseURL, rateLimits: "{ login: 4/h }") { third in
                try await third.age("rate_limits", "full_at", by: "15 seconds")
                #expect(try await served(of: 3) { try await login(APIClient(third)) } == 1)
                try await third.age("rate_limits", "full_at", by: "10 hours")
            }
            try await TestServer.with(database: replicas.first.databaseURL, rateLimits: "{ login: 4/h }") { fourth in
                let full = try await served(of: 6) { try await login(APIClient(fourth)) }
                #expect(full == 4)
            }
        }
    }

    @Test func `another application and another address are not affected`() async throws {
        try await TestServer.with(
            server: Self.proxied, others: TestServer.photos, rateLimits: "{ login: 2/h }"
        ) { server in
            let client = APIClient(server)
            let photos = APIClient(server, application: "photos")
            let groups = [
                ["203.0.113.7", "203.0.113.7:5678", "::ffff:203.0.113.7", "198.51.100.1, 203.0.113.7"],
                ["203.0.113.8"],
                ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "[2001:DB8:1:2::7]:443"],
                ["2001:db8:1:3::1"],
                // These values are not addresses, so the proxy's own address counts.
                ["unknown", "<script>", "198.51.100.1, me"],
            ]
            for group in groups {
                for (index, address) in (group + group).enumerated() where group.count > 1 || index < 2 {
                    let status = try await login(client, from: address).status
                    #expect(status == (index < 2 ? 401 : 429), "\(address), call \(index + 1)")
                }
            }
            #expect(try await served(of: 3) { try await login(photos, from: "203.0.113.7") } == 2)
        }
    }

    @Test func `a forwarded address of a peer that is no trusted proxy changes nothing`() async throws {
        try await TestServer.with(rateLimits: "{ login: 2/h }") { server in
            let client = APIClient(server)
            var statuses: [Int] = []
            for number in 1...4 { statuses.append(try await login(client, from: "203.0.113.\(number)").status) }
            #expect(statuses == [401, 401, 429, 429])
        }
    }

    @Test func `a forgotten password is limited by client, for known and unknown addresses alike`() async throws {
        try await TestServer.with(server: Self.proxied, rateLimits: "{ forgotPassword: 3/h }") { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            func forget(_ email: String, _ number: Int) async throws -> APIClient.Answer {
                try await client.post(
                    "/auth/forgot-password", ["email": .string(email)],
                    headers: ["x-forwarded-for": "203.0.113.\(number)"])
            }
            for (number, email) in [person.email, APIClient.newAddress()].enumerated() {
                var answers: [APIClient.Answer] = []
                for other in [email, APIClient.newAddress(), email, email] {
                    answers.append(try await forget(other, number))
                }
                #expect(answers.map(\.status) == [202, 202, 202, 429])
                #expect(try (1195...1200).contains(#require(answers.last?.retryAfter)))
            }
            // Another client can still request a link for the same address.
            #expect(try await forget(person.email, 9).status == 202)
        }
    }

    @Test func `codes are limited by recipient, independent of the client`() async throws {
        try await TestServer.with(server: Self.proxied, rateLimits: "{ otpSend: 5/h }") { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            var statuses: [Int] = []
            for number in 1...6 {
                statuses.append(
                    try await client.post(
                        "/auth/email/otp", ["email": .string(number == 3 ? email.uppercased() : email)],
                        headers: ["x-forwarded-for": "203.0.113.\(number)"]
                    ).status)
                try await server.age("proofs", "created_at", by: "61 seconds")
            }
            #expect(statuses == [202, 202, 202, 202, 202, 429])
            #expect(try await client.post("/auth/email/otp", ["email": .string(APIClient.newAddress())]).status == 202)
        }
    }

    @Test func `a change of the password counts as a login where it checks one`() async throws {
        try await TestServer.with(rateLimits: "{ login: 3/h }") { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            func change(_ body: JSONValue) async throws -> APIClient.Answer {
                try await client.put("/auth/change-password", body, bearer: person.accessToken)
            }
            let checked: JSONValue = [
                "currentPassword": .string(APIClient.password), "password": .string(APIClient.password),
            ]
            #expect(try await served(of: 4) { try await change(["password": .string(APIClient.password)]) } == 4)
            #expect(try await change(checked).status == 204)
            #expect(try await served(of: 3) { try await login(client) } == 2)
            expectError(try await change(checked), 429, "RATE_LIMITED")
            #expect(try await change(["password": .string(APIClient.password)]).status == 204)
        }
    }

    @Test func `a limit comes after size, type and origin, before bearer and body`() async throws {
        try await TestServer.with(rateLimits: "{ login: 1/h, logout: 1/h }") { server in
            let client = APIClient(server)
            func send(_ path: String, _ body: String = "{}", _ headers: HTTPHeaders = [:]) async throws -> Int {
                try await client.send(.POST, "/api/v1" + path, raw: Array(body.utf8), headers: headers).status
            }
            for path in ["/auth/login", "/auth/logout"] {
                let early: [(Int, String, HTTPHeaders)] = [
                    (413, String(repeating: " ", count: 70_000), [:]), (415, "{}", ["content-type": "text/plain"]),
                    (403, "{}", ["origin": "https://evil.example"]),
                ]
                for (status, body, headers) in early {
                    #expect(try await send(path, body, headers) == status, "\(path), not counted")
                }
                let first = try await send(path)
                #expect(first == (path == "/auth/login" ? 400 : 401))
                for (status, body, headers) in early {
                    #expect(try await send(path, body, headers) == status, "\(path), over the limit")
                }
                for body in ["{}", "{", "[]"] { #expect(try await send(path, body) == 429) }
            }
        }
    }

    @Test func `a reload changes a rate and removes limits`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(TestServer.yaml(rateLimits: "{ login: 2/h }"))
        try await TestServer.with(rateLimits: "{ login: 2/h }") { server in
            let client = APIClient(server)
            let environment = ["DATABASE_URL": server.databaseURL]
            let reload = ConfigurationReload(
                of: try .load(path: path, environment: environment, installed: TestServer.providers), path: path,
                environment: environment, installed: TestServer.providers, logger: CollectedLog().logger,
                takeOver: server.server.take(over:sections:))
            #expect(try await served(of: 3) { try await login(client) } == 2)
            try directory.write(TestServer.yaml(rateLimits: "{ login: 3/h }"))
            await reload.poll()
            #expect(try await served(of: 4) { try await login(client) } == 3)
            try directory.write(TestServer.yaml(rateLimits: "{ login: off }"))
            await reload.poll()
            #expect(try await served(of: 4) { try await login(client) } == 4)
        }
    }

    @Test func `without its database a replica allows nothing`() async throws {
        try await Replicas.with(rateLimits: "{ logout: 100000/h }") { replicas in
            let second = replicas.clients.second
            // A logout without a bearer needs the database only for its rate limit.
            #expect(try await second.post("/auth/logout").status == 401)
            try await replicas.cutOff()
            for _ in 0..<3 { expectError(try await second.post("/auth/logout"), 503, "OVERLOADED") }
            try await replicas.readmit()
            try await eventually("limits are counted again") { try await second.post("/auth/logout").status == 401 }
        }
    }

    @Test func `rows contain no personal data and are removed when they expire`() async throws {
        try await TestServer.with(rateLimits: "{ login: 2/h, logout: 5/h }") { server in
            let client = APIClient(server)
            for _ in 0..<3 { _ = try await login(client) }
            _ = try await client.post("/auth/logout")
            // The client's own limit and that of its network block, for each of the two calls.
            #expect(try await server.count("SELECT count(*) FROM rate_limits WHERE octet_length(subject) = 32") == 4)
            _ = try await ExpiredRows(database: server.backend.database).remove()
            #expect(try await server.count("SELECT count(*) FROM rate_limits") == 4)
            try await server.execute("UPDATE rate_limits SET full_at = now() WHERE name LIKE 'logout %'")
            _ = try await ExpiredRows(database: server.backend.database).remove()
            let names = try await server.text("SELECT string_agg(name, ',' ORDER BY name) FROM rate_limits")
            #expect(names == "login 2/3600,login 32/3600")
            #expect(
                try await server.text("SELECT relpersistence::text FROM pg_class WHERE relname = 'rate_limits'") == "u")
        }
    }
}
