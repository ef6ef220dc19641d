import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// HTTPS, origins, request ids and limits of size.
struct TransportTests {
    @Test func `plain HTTP needs a trusted proxy that says https`() async throws {
        try await TestServer.with(server: "development: false, trustedProxies: [127.0.0.1]") { server in
            let client = APIClient(server)
            let cases: [(HTTPHeaders, Int)] = [
                ([:], 400), (["x-forwarded-proto": "http"], 400), (["x-forwarded-proto": "https"], 200),
                (["x-forwarded-proto": "HTTPS"], 200), (["x-forwarded-proto": "http, https"], 400),
            ]
            for (headers, status) in cases {
                let answer = try await client.send(.GET, "/api/v1/auth/providers", headers: headers)
                #expect(answer.status == status, "\(headers)")
                if status == 400 { expectError(answer, 400, "HTTPS_REQUIRED", "\(headers)") }
            }
        }
        try await TestServer.with(server: "development: false, trustedProxies: [10.0.0.0/8]") { server in
            let answer = try await APIClient(server).send(
                .GET, "/api/v1/auth/providers", headers: ["x-forwarded-proto": "https"])
            expectError(answer, 400, "HTTPS_REQUIRED", "from a peer that is not trusted")
        }
    }

    @Test func `a session shows the address behind trusted proxies`() async throws {
        try await TestServer.with(server: "development: true, trustedProxies: [127.0.0.1, 10.0.0.0/8]") { server in
            let client = APIClient(server)
            let cases: [(String?, JSONValue)] = [
                (nil, "127.0.0.1"), ("203.0.113.7", "203.0.113.7"), ("198.51.100.1, 203.0.113.7", "203.0.113.7"),
                ("203.0.113.7, 10.1.2.3", "203.0.113.7"), ("<script>", "127.0.0.1"), ("2001:db8::1", "2001:db8::1"),
                ("203.0.113.7:5678", "203.0.113.7"), ("[2001:DB8::1]:443", "2001:db8::1"),
            ]
            for (forwarded, address) in cases {
                let headers: HTTPHeaders = forwarded.map { ["x-forwarded-for": $0] } ?? [:]
                let session = try await client.post("/auth/anonymous", headers: headers)
                let bearer = try #require(session["accessToken"].string)
                let list = try await client.get("/auth/sessions", bearer: bearer)
                #expect(list["sessions"].array?.first?["address"] == address, "\(forwarded ?? "-")")
            }
        }
    }

    @Test func `the server says that it closes a connection after a response`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            for (sent, said) in [("close", "close"), ("keep-alive", nil)] {
                let answer = try await client.send(
                    .GET, "/api/v1/auth/providers", headers: ["connection": sent])
                #expect(answer.headers.first(name: "connection") == said, "\(sent)")
            }
        }
    }

    @Test func `only listed origins and the server's own may call`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let client = APIClient(server)
            for origin in ["http://localhost:3000", "http://127.0.0.1:1"] {
                let answer = try await client.post("/auth/anonymous", headers: ["origin": origin])
                #expect(answer.status == 200, "\(origin)")
                #expect(answer.headers.first(name: "access-control-allow-origin") == origin)
                #expect(answer.headers[canonicalForm: "vary"].contains("Origin"))
                let exposed = answer.headers.first(name: "access-control-expose-headers") ?? ""
                for name in ["X-Request-ID", "Retry-After", "Location"] { #expect(exposed.contains(name)) }
                let refused = try await client.send(.GET, "/api/v1/auth/me", headers: ["origin": origin])
                expectError(refused, 401, "INVALID_TOKEN")
                #expect(refused.headers.first(name: "access-control-allow-origin") == origin, "errors are readable too")
            }
            let evil = [
                "http://evil.example", "null", "http://localhost:3001", "https://localhost:3000",
                "http://localhost:3000/",
                "http://localhost:3000.evil.example", "HTTP://LOCALHOST:3000x", "https://photos.example",
            ]
            let paths = [
                "/api/v1/auth/anonymous", "//api/v1/auth/anonymous", "/api//v1/auth/anonymous",
                "/apps/demo//api/v1/auth/anonymous",
            ]
            for path in paths {
                for origin in evil {
                    let answer = try await client.send(.POST, path, headers: ["origin": origin])
                    #expect([403, 404].contains(answer.status), "\(path) \(origin): \(answer.text)")
                    #expect(answer.headers.first(name: "access-control-allow-origin") == nil, "\(origin)")
                }
            }
            for origin in evil {
                expectError(
                    try await client.post("/auth/anonymous", headers: ["origin": origin]), 403,
                    "UNAUTHORIZED_REQUEST_ORIGIN", origin)
            }
            let photos = APIClient(server, application: "photos")
            #expect(
                try await photos.post("/auth/anonymous", headers: ["origin": "https://photos.example"]).status == 200)
            #expect(
                try await client.send(.GET, "/openapi.json", headers: ["origin": "https://evil.example"]).status == 200)
        }
    }

    @Test func `an application's own address may call`() async throws {
        let settings = "hosts: [login.company.example]\npublicURL: https://login.company.example:443"
        try await TestServer.with(application: settings) { server in
            let answer = try await APIClient(server).post(
                "/auth/anonymous", headers: ["origin": "https://login.company.example"])
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test func `a preflight is answered for listed origins`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            var headers: HTTPHeaders = [
                "origin": "http://localhost:3000", "access-control-request-method": "PATCH",
                "access-control-request-headers": "authorization, content-type",
            ]
            let answer = try await client.send(.OPTIONS, "/api/v1/auth/me", headers: headers)
            #expect(answer.status == 204 && answer.body.isEmpty)
            #expect(answer.headers.first(name: "access-control-allow-origin") == "http://localhost:3000")
            let methods = answer.headers.first(name: "access-control-allow-methods") ?? ""
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] { #expect(methods.contains(method)) }
            let allowed = (answer.headers.first(name: "access-control-allow-headers") ?? "").lowercased()
            for name in ["authorization", "content-type", "x-request-id", "x-device-name"] {
                #expect(allowed.contains(name))
            }
            #expect(answer.headers.first(name: "access-control-max-age").flatMap { Int($0) } != nil)
            headers.replaceOrAdd(name: "origin", value: "https://evil.example")
            let refused = try await client.send(.OPTIONS, "/api/v1/auth/me", headers: headers)
            expectError(refused, 403, "UNAUTHORIZED_REQUEST_ORIGIN")
            #expect(refused.headers.first(name: "access-control-allow-origin") == nil)
            #expect(refused.headers.first(name: "access-control-allow-methods") == nil)
        }
    }

    @Test func `a request id is honoured where it is fit for logs`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            for id in ["abc-123", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a"] {
                for path in ["/health/live", "/nothing", "/api/v1/auth/me"] {
                    let answer = try await client.send(.GET, path, headers: ["x-request-id": id])
                    #expect(answer.headers["x-request-id"] == [id])
                }
            }
            var seen: Set<String> = []
            for id in ["", "a b", "\u{FF}", "a\"b", String(repeating: "a", count: 129), "<script>"] {
                let answer = try await client.send(.GET, "/health/live", headers: ["x-request-id": id])
                let own = try #require(answer.headers.first(name: "x-request-id"))
                #expect(own != id && own.wholeMatch(of: /[A-Za-z0-9-]{8,}/) != nil && seen.insert(own).inserted)
            }
        }
    }

    @Test func `a body may have 64 KiB and not a byte more`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            func body(_ size: Int) -> [UInt8] { Array("{}".utf8) + [UInt8](repeating: 0x20, count: size - 2) }
            let largest = 64 * 1024
            #expect(try await client.send(.POST, "/api/v1/auth/anonymous", raw: body(largest)).status == 200)
            expectError(
                try await client.send(.POST, "/api/v1/auth/anonymous", raw: body(largest + 1)), 413, "PAYLOAD_TOO_LARGE"
            )
            expectError(
                try await client.send(.POST, "/api/v1/auth/anonymous", raw: body(1 << 20)), 413, "PAYLOAD_TOO_LARGE")
            // A chunked body, whose length is not declared.
            let chunk = "1000\r\n" + String(repeating: " ", count: 0x1000) + "\r\n"
            let answer = await RawExchange(server).send(
                "POST /api/v1/auth/anonymous HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: chunk, count: 17) + "0\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 413"), "\(answer.prefix(200))")
            #expect(answer.contains("PAYLOAD_TOO_LARGE"))
        }
    }

    @Test func `a request names one host`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let raw = RawExchange(server)
            let end = "Connection: close\r\n\r\n"
            for hosts in [
                "", "Host: localhost\r\nHost: localhost\r\n", "Host: localhost\r\nX: y\r\nhost: photos.example\r\n",
                "Host: \u{E9}.example\r\n", "Host: a b\r\n", "Host: \(String(repeating: "a", count: 260))\r\n",
            ] {
                for path in ["/health/live", "/api/v1/auth/providers", "/apps/photos/api/v1/auth/providers"] {
                    let answer = await raw.send("GET \(path) HTTP/1.1\r\n\(hosts)\(end)")
                    #expect(answer.hasPrefix("HTTP/1.1 400"), "\(hosts.prefix(40)): \(answer.prefix(200))")
                    #expect(answer.contains("INVALID_PARAMETER"), "\(hosts.prefix(40))")
                }
            }
            for host in ["localhost", "PHOTOS.example:8443", "[::1]:80", ""] {
                let answer = await raw.send("GET /api/v1/auth/providers HTTP/1.1\r\nHost: \(host)\r\n\(end)")
                #expect(answer.hasPrefix("HTTP/1.1 200"), "\(host): \(answer.prefix(200))")
            }
        }
    }

    @Test func `a body that does not arrive costs the client its connection`() async throws {
        try await TestServer.with(transferDeadline: .seconds(1)) { server in
            for body in ["", "{"] {
                let isHungUp = await RawExchange(server).isHungUp(
                    after: "POST /api/v1/auth/anonymous HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                        + "Content-Length: 50\r\n\r\n\(body)")
                #expect(isHungUp)
            }
            let answer = try await APIClient(server).post("/auth/anonymous")
            #expect(answer.status == 200, "other clients are served")
        }
    }

    @Test func `a client that sends requests and reads no response is cut off`() async throws {
        try await TestServer.with(transferDeadline: .seconds(1)) { server in
            let request = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
            #expect(await RawExchange(server).isHungUp(repeating: request))
        }
    }

    @Test func `a client that begins no TLS handshake is cut off`() async throws {
        try await ProcessDirectory.with { directory in
            try await directory.makeCertificate()
            let (certificate, key) = (directory.path("cert.pem"), directory.path("key.pem"))
            let tls = "tls: { certificate: 'file:\(certificate)', key: 'file:\(key)' }"
            try await TestServer.with(server: tls, transferDeadline: .seconds(1)) { server in
                for sent in ["", "\u{16}\u{3}\u{1}"] {
                    #expect(await RawExchange(server).isHungUp(after: sent))
                }
                // After the handshake, the time until the first request does not count.
                let words = """
                    (sleep 2; printf 'GET /health/live HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'; sleep 1) |
                    openssl s_client -quiet -connect 127.0.0.1:\(RawExchange(server).port)
                    """
                let outcome = try await GatehouseProcess.run(["-c", words], program: "/bin/sh", in: directory)
                #expect(outcome.output.contains("HTTP/1.1 200"), "\(outcome.output)")
            }
        }
    }

    /// Such a client acknowledges no PING, after which Hummingbird would close its connection.
    @Test func `a silent client of HTTP/2 is cut off`() async throws {
        try await ProcessDirectory.with { directory in
            try await directory.makeCertificate()
            let (certificate, key) = (directory.path("cert.pem"), directory.path("key.pem"))
            let tls = "tls: { certificate: 'file:\(certificate)', key: 'file:\(key)' }"
            try await TestServer.with(server: tls, transferDeadline: .seconds(1)) { server in
                let address = "127.0.0.1:\(RawExchange(server).port)"
                let outcome = try await GatehouseProcess.run(
                    ["-s", "KILL", "15", "openssl", "s_client", "-ign_eof", "-alpn", "h2", "-connect", address],
                    program: "/usr/bin/timeout", in: directory)
                #expect(outcome.output.contains("ALPN protocol: h2"))
                #expect([0, 1].contains(outcome.status), "it was not killed: \(outcome.status)")
            }
        }
    }

    @Test func `the inbox is shown only at hosts of this machine`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.8.8.8", "[::1]:8080", "[::1]"] {
                #expect(try await client.send(.GET, "/dev/inbox", headers: ["host": host]).status == 200, "\(host)")
            }
            for host in [
                "rebound.example", "localhost.example:80", "10.0.0.1", "[fd00::1]:80", "", "[", "127.0.0.1.nip.io",
            ] {
                expectError(
                    try await client.send(.GET, "/dev/inbox", headers: ["host": host]), 403,
                    "UNAUTHORIZED_REQUEST_ORIGIN", host)
            }
        }
    }

    @Test func `a connection serves one request after another`() async throws {
        try await TestServer.with { server in
            let request = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
            let answer = await RawExchange(server).send(
                String(repeating: request, count: 3) + "GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(answer.matches(of: /HTTP\/1\.1 200/).count == 3 && answer.contains("HTTP/1.1 404"), "\(answer)")
        }
    }

    @Test func `answers can't be sniffed, and are not kept`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let paths = [
                "/api/v1/auth/providers", "/api/v1/auth/me", "/nothing", "/openapi.json", "/metrics", "/reset-password",
            ]
            for path in paths {
                let answer = try await client.send(.GET, path)
                #expect(answer.headers["x-content-type-options"] == ["nosniff"], "\(path)")
                #expect(answer.headers.first(name: "cache-control")?.contains("no-store") == true, "\(path)")
            }
        }
    }
}
