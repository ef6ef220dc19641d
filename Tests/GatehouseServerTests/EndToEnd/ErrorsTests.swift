import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The error body, and the order in which a request is checked.
struct ErrorsTests {
    @Test func `unknown paths answer 404 in the error envelope`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let paths = [
                "/", "/nothing", "/api", "/api/v1", "/api/v1/", "/api/v1/auth", "/api/v1/auth/nothing",
                "/api/v2/auth/me",
                "/apps/demo", "/apps/demo/api/v1/nothing", "/api/v1/auth/me/more", "/api/v1/auth/%00", "/%ZZ",
                "/..%2f..",
                "/api/v1/auth/%F0%28%8C%28", "/api/v1/erasures/none", "/api/v1/erasures/%00",
            ]
            for path in paths {
                expectError(try await client.send(.GET, path), 404, "NOT_FOUND", path)
                if !path.contains("erasures") {
                    expectError(try await client.send(.POST, path, raw: Array("{}".utf8)), 404, "NOT_FOUND", path)
                }
            }
        }
    }

    @Test func `an error of HEAD has no body`() async throws {
        try await TestServer.with { server in
            for (path, status) in [("/nothing", 404), ("/api/v1/auth/me", 401)] {
                let answer = await RawExchange(server).send(
                    "HEAD \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.hasSuffix("\r\n\r\n"), "\(answer)")
            }
        }
    }

    @Test func `another method gets 405 with the allowed methods`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let cases: [(HTTPMethod, String, String)] = [
                (.GET, "/api/v1/auth/login", "POST"), (.PUT, "/api/v1/auth/anonymous", "POST"),
                (.DELETE, "/api/v1/auth/me", "GET, HEAD, PATCH"), (.POST, "/api/v1/auth/me", "GET, HEAD, PATCH"),
                (.POST, "/api/v1/auth/change-password", "PUT"), (.GET, "/api/v1/auth/sessions/x", "DELETE"),
                (.POST, "/openapi.json", "GET, HEAD"), (.OPTIONS, "/api/v1/auth/login", "POST"),
                (.PROPFIND, "/api/v1/auth/login", "POST"),
                (.TRACE, "/api/v1/auth/me", "GET, HEAD, PATCH"),
                (.PURGE, "/health/live", "GET, HEAD"),
            ]
            for (method, path, allowed) in cases {
                let answer = try await client.send(method, path)
                expectError(answer, 405, "METHOD_NOT_ALLOWED", "\(method) \(path)")
                #expect(answer.headers.first(name: "allow") == allowed, "\(method) \(path)")
            }
            expectError(try await client.send(.PROPFIND, "/nothing"), 404, "NOT_FOUND")
        }
    }

    @Test func `HEAD answers as GET does, without a body`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let get = try await client.send(.GET, "/api/v1/auth/providers")
            let head = try await client.send(.HEAD, "/api/v1/auth/providers")
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.headers.first(name: "content-type") == get.headers.first(name: "content-type"))
            #expect(try await client.send(.HEAD, "/api/v1/auth/me").status == 401)
        }
    }

    /// Each request also fails the checks that come after the expected one.
    @Test func `checks run in the documented order`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let evil = HTTPHeaders([("origin", "https://evil.example"), ("content-type", "text/plain")])
            let evilJSON = HTTPHeaders([("origin", "https://evil.example"), ("content-type", "application/json")])
            let large = [UInt8](repeating: 0x20, count: 64 * 1024 + 1)
            let broken = Array("{".utf8)
            expectError(
                try await client.send(.POST, "/apps/none/nothing", raw: large, headers: evil), 404,
                "UNKNOWN_APPLICATION")
            expectError(
                try await client.send(.POST, "/api/v1/nothing", raw: large, headers: evil), 404, "NOT_FOUND")
            expectError(
                try await client.send(.POST, "/api/v1/auth/me", raw: large, headers: evil), 405, "METHOD_NOT_ALLOWED")
            expectError(
                try await client.send(.PUT, "/api/v1/auth/change-password", raw: large, headers: evil), 413,
                "PAYLOAD_TOO_LARGE")
            expectError(
                try await client.send(.PUT, "/api/v1/auth/change-password", raw: broken, headers: evil), 415,
                "UNSUPPORTED_MEDIA_TYPE")
            expectError(
                try await client.send(.PUT, "/api/v1/auth/change-password", raw: broken, headers: evilJSON), 403,
                "UNAUTHORIZED_REQUEST_ORIGIN")
            expectError(
                try await client.send(.PUT, "/api/v1/auth/change-password", raw: broken), 401, "INVALID_TOKEN")
            let person = try await client.register(at: server)
            try await server.letPass(.seconds(600))
            let old = try #require(try await client.refresh(person.refreshToken)["accessToken"].string)
            expectError(
                try await client.send(.PUT, "/api/v1/auth/change-password", raw: broken, bearer: old), 403,
                "TOKEN_TOO_OLD")
            expectError(
                try await client.send(.PUT, "/api/v1/auth/change-password", raw: broken, bearer: person.accessToken),
                400,
                "INVALID_PARAMETER")
        }
    }

    @Test func `HTTPS is checked first`() async throws {
        try await TestServer.with(server: "development: false") { server in
            let client = APIClient(server)
            for path in [
                "/apps/none/x", "/nothing", "/api/v1/auth/providers", "/openapi.json", "/.well-known/jwks.json",
            ] {
                expectError(try await client.send(.GET, path), 400, "HTTPS_REQUIRED", path)
            }
            // Probes connect directly to the server, without a proxy.
            #expect(try await client.send(.GET, "/health/live").status == 200)
        }
    }

    @Test func `a missing or mistyped field is named`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let bearer = try await client.guest().accessToken
            let cases: [(String, String, String, String)] = [
                ("/auth/refresh", "{}", "MISSING_PARAMETER", "refreshToken"),
                ("/auth/refresh", #"{"refreshToken":null}"#, "MISSING_PARAMETER", "refreshToken"),
                ("/auth/refresh", #"{"refreshToken":7}"#, "INVALID_PARAMETER", "refreshToken"),
                ("/auth/verify-email", "", "MISSING_PARAMETER", "token"),
                ("/auth/reset-password", #"{"token":"x"}"#, "MISSING_PARAMETER", "newPassword"),
                ("/auth/forgot-password", "{}", "MISSING_PARAMETER", "email"),
                ("/auth/forgot-password", #"{"email":"nobody"}"#, "INVALID_PARAMETER", "email"),
                ("/auth/login", #"{"email":{},"password":"x"}"#, "INVALID_PARAMETER", "email"),
                ("/auth/logout", #"{"scope":"everything"}"#, "INVALID_PARAMETER", "scope"),
                ("/auth/account/restore", "{}", "MISSING_PARAMETER", "restoreToken"),
                ("/auth/anonymous", #"{"provider":[]}"#, "INVALID_PARAMETER", "provider"),
            ]
            for (path, body, code, field) in cases {
                let answer = try await client.send(.POST, "/api/v1" + path, raw: Array(body.utf8), bearer: bearer)
                expectError(answer, 400, code, "\(path) \(body)")
                #expect(answer.message.split(separator: " ").first.map(String.init) == field, "\(answer.text)")
            }
            let nested = try await client.send(
                .PATCH, "/api/v1/auth/me", raw: Array(#"{"metadata":{"a":[{"b":1},{"b":[1e400]}]}}"#.utf8),
                bearer: bearer)
            expectError(nested, 400, "INVALID_PARAMETER")
            #expect(nested.message.hasPrefix("metadata.a[1].b[0] "), "\(nested.text)")
        }
    }

    @Test func `an empty body is an empty object`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            #expect(try await client.send(.POST, "/api/v1/auth/anonymous").status == 200)
            #expect(try await client.send(.POST, "/api/v1/auth/anonymous", raw: []).status == 200)
            let guest = try await client.guest()
            #expect(try await client.send(.POST, "/api/v1/auth/logout", bearer: guest.accessToken).status == 204)
        }
    }
}
