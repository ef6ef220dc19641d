import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Which calls are limited by client, and which addresses count as one client.
struct ClientLimitTests {
    /// The configuration of trusted proxies, which state the client's address.
    private static let proxied = "development: true, trustedProxies: [127.0.0.1]"

    private func from(_ address: String) -> HTTPHeaders { ["x-forwarded-for": address] }

    /// Routes with fixed limits that cannot be configured and are far above two.
    private static let builtIn: Set = [
        "/api/v1/auth/oauth/{provider}/authorize", "/api/v1/auth/identities/{identity}/authorize",
        "/api/v1/auth/account/export", "/signin/{request}/with/{provider}",
    ]

    @Test func `every call that writes or needs no bearer is limited`() async throws {
        let names = [
            "login", "refresh", "apple", "logout", "forgotPassword", "register", "anonymous", "otpClient", "general",
            "authorize", "token", "clientRegistration", "device", "userCode", "qr",
        ]
        let rates = "{ \(names.map { "\($0): 2/h" }.joined(separator: ", ")) }"
        try await TestServer.with(
            server: Self.proxied, application: BlitzApp.everything,
            providers: "scripted: {}", rateLimits: rates
        ) { server in
            let client = APIClient(server)
            let document = try await client.send(.GET, "/openapi.json", headers: from("192.0.2.1"))
            var paths = try #require(document["paths"].object)
            paths["/openapi.json"] = ["get": ["responses": ["429": [:]]]]
            #expect(paths.count > 40)
            var number = 0
            for (path, operations) in paths where !Self.builtIn.contains(path) {
                for (method, operation) in operations.object ?? [:] {
                    number += 1
                    let address = "198.51.\(number).1"
                    let concrete = path.replacing(/\{[a-z]+\}/, with: "x")
                    var statuses: [Int] = []
                    for _ in 0..<3 {
                        let verb = HTTPMethod(rawValue: method.uppercased())
                        var headers = from(address)
                        // Browsers send forms to the callback, when they return from a provider, and so do clients.
                        let form = "application/x-www-form-urlencoded"
                        let isForm =
                            path.hasSuffix("/callback")
                            || path.firstRange(of: /^(\/blitz)?\/oauth\/(?!register)/) != nil
                            || operation["requestBody"]["content"].keys.contains(form)
                        headers.add(name: "content-type", value: isForm ? form : "application/json")
                        statuses.append(
                            try await client.send(
                                verb, concrete, raw: verb == .GET ? nil : Array((isForm ? "" : "{}").utf8),
                                headers: headers
                            ).status)
                    }
                    let readsByBearer = readsByBearer(method, path, operation)
                    #expect(statuses.prefix(2).allSatisfy { $0 != 429 }, "\(method) \(path): \(statuses)")
                    #expect((statuses[2] == 429) == !readsByBearer, "\(method) \(path): \(statuses)")
                    let isDocumented = operation["responses"].keys.contains("429")
                    #expect(isDocumented == !readsByBearer, "\(method) \(path)")
                }
            }
            #expect(number > 40)
            // The development inbox is not limited, because tests poll it.
            for _ in 0..<5 { #expect(try await client.send(.GET, "/dev/inbox").status == 200) }
        }
    }

    private func readsByBearer(_ method: String, _ path: String, _ operation: JSONValue) -> Bool {
        // The page /review refuses the token of its link, and a registration those of other clients; a look at a QR
        // code changes what its page shows.
        ["/oauth/userinfo", "/blitz/oauth/me"].contains(path)
            || method == "get" && path != "/review" && !path.contains("/oauth/register/") && !path.contains("/auth/qr/")
                && operation["responses"].keys.contains("401")
    }

    @Test func `each route without a named limit is counted separately`() async throws {
        try await TestServer.with(rateLimits: "{ general: 5/h }") { server in
            let client = APIClient(server)
            let statuses = try await atOnce(20) { try await client.get("/auth/providers").status }
            #expect(statuses.count { $0 == 200 } == 5 && statuses.count { $0 == 429 } == 15, "\(statuses)")
            #expect(try await client.send(.HEAD, "/api/v1/auth/providers").status == 429)
            #expect(try await client.send(.GET, "/.well-known/jwks.json").status == 200)
            #expect(try await client.post("/auth/verify-email", ["token": "x"]).status == 401)
        }
    }

    @Test func `reads without a bearer are limited without the database`() async throws {
        try await Replicas.with(rateLimits: "{ general: 2/h }") { replicas in
            let second = replicas.clients.second
            try await replicas.cutOff()
            for path in ["/.well-known/jwks.json", "/health/live", "/api/v1/auth/providers", "/openapi.json"] {
                let statuses = [
                    try await second.send(.GET, path).status, try await second.send(.GET, path).status,
                    try await second.send(.GET, path).status,
                ]
                #expect(statuses == [200, 200, 429], "\(path)")
            }
            expectError(try await second.post("/auth/verify-email", ["token": "x"]), 503, "OVERLOADED")
        }
    }

    @Test func `calls that write are counted for all replicas together`() async throws {
        try await Replicas.with(rateLimits: "{ general: 4/h }") { replicas in
            let (first, second) = replicas.clients
            async let some = atOnce(10) { try await first.post("/auth/verify-email", ["token": "x"]).status }
            async let others = atOnce(10) { try await second.post("/auth/verify-email", ["token": "x"]).status }
            let statuses = try await some + others
            #expect(statuses.count { $0 == 401 } == 4 && statuses.count { $0 == 429 } == 16, "\(statuses)")
        }
    }

    @Test(arguments: [
        ("203.0.113.", "", "203.0.114.1"), ("2001:db8:1:", "::1", "2001:db8:2:1::1"),
    ])
    func `a block of networks has sixteen times the rate of one`(
        before: String, after: String, elsewhere: String
    ) async throws {
        try await TestServer.with(server: Self.proxied, rateLimits: "{ logout: 2/h }") { server in
            let client = APIClient(server)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...30 {
                    for _ in 0..<2 {
                        group.addTask {
                            try await client.post("/auth/logout", headers: from("\(before)\(number)\(after)")).status
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 401 } == 32, "\(statuses)")
            let next = try await client.post("/auth/logout", headers: from("\(before)99\(after)"))
            #expect(try (100...113).contains(#require(next.retryAfter)))
            #expect(try await client.post("/auth/logout", headers: from(elsewhere)).status == 401)
        }
    }

    @Test func `a client over its own limit takes nothing from its block`() async throws {
        try await TestServer.with(server: Self.proxied, rateLimits: "{ logout: 2/h }") { server in
            let client = APIClient(server)
            for _ in 0..<2 {
                #expect(try await client.post("/auth/logout", headers: from("203.0.113.1")).status == 401)
            }
            // Each call goes to a new replica, which has not cached the refusal.
            for _ in 0..<3 {
                try await TestServer.with(
                    database: server.databaseURL, server: Self.proxied, rateLimits: "{ logout: 2/h }"
                ) { other in
                    let answer = try await APIClient(other).post("/auth/logout", headers: from("203.0.113.1"))
                    expectError(answer, 429, "RATE_LIMITED")
                }
            }
            // `full_at` is as far in the future as it takes to restore the used calls.
            let taken = try await server.count(
                """
                SELECT round(extract(epoch FROM full_at - now()) / 112.5)::int8 FROM rate_limits
                 WHERE name = 'logout 32/3600'
                """)
            #expect(taken == 2)
        }
    }

    @Test func `codes to many addresses are limited by client`() async throws {
        try await TestServer.with(server: Self.proxied, rateLimits: "{ otpClient: 3/h }") { server in
            let client = APIClient(server)
            func ask(_ address: String) async throws -> APIClient.Answer {
                try await client.post(
                    "/auth/email/otp", ["email": .string(APIClient.newAddress())], headers: from(address))
            }
            let person = try await client.register(at: server)
            let identity = try await client.identityID(of: "email", bearer: person.accessToken)
            func change(_ address: String) async throws -> APIClient.Answer {
                try await client.post(
                    "/auth/identities/\(identity)/address", ["email": .string(APIClient.newAddress())],
                    bearer: person.accessToken, headers: from(address))
            }
            for _ in 0..<2 { #expect(try await ask("203.0.113.1").status == 202) }
            #expect(try await change("203.0.113.1").status == 202)
            expectError(try await ask("203.0.113.1"), 429, "RATE_LIMITED")
            expectError(try await change("203.0.113.1"), 429, "RATE_LIMITED")
            #expect(try await ask("203.0.113.2").status == 202)
        }
    }

    @Test func `mails are limited by recipient, whether the address is known or unknown`() async throws {
        let rates = "{ registerTarget: 3/h, forgotPasswordTarget: 2/h, register: off, forgotPassword: off }"
        try await TestServer.with(server: Self.proxied, rateLimits: rates) { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let other = try await client.guest()
            try await server.execute("DELETE FROM rate_limits")
            for email in [person.email, APIClient.newAddress()] {
                let body: JSONValue = ["email": .string(email), "password": .string(APIClient.password)]
                var number = 0
                func answer(_ path: String, _ headers: HTTPHeaders? = nil) async throws -> Int {
                    number += 1
                    return try await client.post(path, body, headers: headers ?? from("203.0.113.\(number)")).status
                }
                let registered = [
                    try await answer("/auth/register"), try await answer("/auth/register"),
                    try await client.post("/auth/identities/email", body, bearer: other.accessToken).status,
                    try await answer("/auth/register"),
                    try await client.post("/auth/identities/email", body, bearer: other.accessToken).status,
                ]
                #expect(registered == [201, 201, 202, 429, 429], "\(email == person.email)")
                let forgotten = [
                    try await answer("/auth/forgot-password"), try await answer("/auth/forgot-password"),
                    try await answer("/auth/forgot-password"),
                ]
                #expect(forgotten == [202, 202, 429], "\(email == person.email)")
            }
            let weak: JSONValue = ["email": .string(person.email), "password": "x"]
            expectError(try await client.post("/auth/register", weak), 400, "TOO_WEAK_PASSWORD")
        }
    }
}
