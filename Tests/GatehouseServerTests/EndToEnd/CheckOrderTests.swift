import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// If a request has several faults, the documented order decides which one is reported.
struct CheckOrderTests {
    /// A request with several faults, which a test corrects one after the other.
    private struct Faulty {
        var headers: HTTPHeaders
        var application = "/apps/nowhere"
        var path: String
        var method = HTTPMethod.DELETE
        var body: [UInt8]

        func send(_ client: APIClient) async throws -> APIClient.Answer {
            try await client.send(method, "\(application)/api/v1\(path)", raw: body, headers: headers)
        }
    }

    private static let large =
        Array(#"{"currentPassword":"x","password":""#.utf8) + [UInt8](repeating: 0x78, count: 70_000)

    /// Runs the body with a server behind a trusted proxy, which refuses plain HTTP.
    private func with(rateLimits: String, _ body: @Sendable @escaping (TestServer, APIClient) async throws -> Void)
        async throws
    {
        try await TestServer.with(server: "trustedProxies: [127.0.0.0/8]", rateLimits: rateLimits) { server in
            try await body(server, APIClient(server))
        }
    }

    private func expect(
        _ faulty: Faulty, _ client: APIClient, _ status: Int, _ code: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        expectError(try await faulty.send(client), status, code, sourceLocation: sourceLocation)
    }

    @Test func `errors appear in the documented order`() async throws {
        try await with(rateLimits: "{ login: 1/h }") { server, client in
            let secure: HTTPHeaders = ["x-forwarded-proto": "https"]
            let (stale, fresh) = try await bearers(server, client, headers: secure)
            // The first login has used up the limit.
            #expect(try await client.post("/auth/login", headers: secure).status == 429)

            var faulty = Faulty(
                headers: ["origin": "https://evil.example", "content-type": "text/plain"],
                path: "/auth/change-password",
                body: Self.large)
            try await expect(faulty, client, 400, "HTTPS_REQUIRED")
            faulty.headers.add(name: "x-forwarded-proto", value: "https")
            try await expect(faulty, client, 404, "UNKNOWN_APPLICATION")
            faulty.application = "/apps/demo"
            try await expect(faulty, client, 405, "METHOD_NOT_ALLOWED")
            faulty.method = .PUT
            let sizeOrType = try await faulty.send(client)
            #expect([413, 415].contains(sizeOrType.status))
            faulty.headers.replaceOrAdd(name: "content-type", value: "application/json")
            try await expect(faulty, client, 413, "PAYLOAD_TOO_LARGE")
            faulty.body = Array(#"{"currentPassword":"x","password":"weak"}"#.utf8)
            try await expect(faulty, client, 403, "UNAUTHORIZED_REQUEST_ORIGIN")
            faulty.headers.remove(name: "origin")
            try await expect(faulty, client, 429, "RATE_LIMITED")
            // Another client address has not used its limit.
            faulty.headers.add(name: "x-forwarded-for", value: "203.0.113.9")
            try await expect(faulty, client, 401, "INVALID_TOKEN")
            faulty.body = Array(#"{"password":5}"#.utf8)
            faulty.headers.add(name: "authorization", value: "Bearer \(stale)")
            try await expect(faulty, client, 403, "TOKEN_TOO_OLD")
            faulty.headers.replaceOrAdd(name: "authorization", value: "Bearer \(fresh)")
            try await expect(faulty, client, 400, "INVALID_PARAMETER")
            faulty.body = Array(#"{"password":"weak"}"#.utf8)
            try await expect(faulty, client, 400, "TOO_WEAK_PASSWORD")
        }
    }

    /// Returns two bearers of one person: one whose authentication is too old, and one that has just authenticated.
    private func bearers(
        _ server: TestServer, _ client: APIClient, headers: HTTPHeaders
    ) async throws -> (stale: String, fresh: String) {
        let email = APIClient.newAddress()
        let credentials: JSONValue = ["email": .string(email), "password": .string(APIClient.password)]
        #expect(try await client.post("/auth/register", credentials, headers: headers).status == 201)
        let token = JSONValue.string(try await client.mailedToken(to: email, at: server))
        let session = try await client.post("/auth/verify-email", ["token": token], headers: headers)
        try await server.letPass(.seconds(301))
        let refreshed = try await client.post(
            "/auth/refresh", ["refreshToken": session["refreshToken"]], headers: headers)
        let login = try await client.post("/auth/login", credentials, headers: headers)
        return (try #require(refreshed["accessToken"].string), try #require(login["accessToken"].string))
    }

    @Test func `a target's limit is checked last, before requests that are always accepted`() async throws {
        try await TestServer.with(rateLimits: "{ otpSend: 1/h }") { server in
            let client = APIClient(server)
            let known = try await client.register(at: server)
            for email in [known.email, APIClient.newAddress()] {
                let body: JSONValue = ["email": .string(email)]
                #expect(try await client.post("/auth/email/otp", body).status == 202)
                // An immediate repetition sends nothing, so it does not count.
                #expect(try await client.post("/auth/email/otp", body).status == 202)
                try await server.age("proofs", "created_at", by: "61 seconds")
                expectError(try await client.post("/auth/email/otp", body), 429, "RATE_LIMITED")
                expectError(try await client.post("/auth/email/otp", body, bearer: "nonsense"), 401, "INVALID_TOKEN")
                expectError(
                    try await client.post("/auth/email/otp", ["email": 5]), 400, "INVALID_PARAMETER")
                expectError(
                    try await client.post("/auth/email/otp", body, headers: ["origin": "https://evil.example"]), 403,
                    "UNAUTHORIZED_REQUEST_ORIGIN")
            }
        }
    }
}
