import Foundation
import NIOHTTP1
import ProviderKit
import Testing

/// The guards of every call of every dialect, as their documents list them.
struct DialectGuardTests {
    private static let application = """
        redirectURIs: [{ uri: "\(TimeTrackerApp.redirectURI)", pkce: false }, "\(ImmichApp.redirectURI)"]
        dialects:
          timetracker: {}
          immich: { version: "1.119.0", redirectURI: "\(ImmichApp.redirectURI)" }
        """

    private func with(
        rateLimits: String = "off", _ body: @Sendable @escaping (TestServer, APIClient) async throws -> Void
    ) async throws {
        try await TestServer.with(
            application: Self.application, providers: "scripted: {}", rateLimits: rateLimits
        ) { server in try await body(server, APIClient(server)) }
    }

    private struct Call {
        let method: HTTPMethod
        let path: String
        let needsToken: Bool
        let isPage: Bool
    }

    private func calls(of dialect: String, at client: APIClient) async throws -> [Call] {
        let document = try await client.send(.GET, "/openapi/\(dialect).json").json
        return (document["paths"].object ?? [:]).flatMap { path, methods in
            (methods.object ?? [:]).map { method, operation in
                let security = operation["security"].array ?? []
                return Call(
                    method: HTTPMethod(rawValue: method.uppercased()), path: path,
                    needsToken: !security.isEmpty && security.first != .object([:]), isPage: path == "/auth/login")
            }
        }
    }

    @Test(arguments: [("timetracker", 4), ("immich", 20)])
    func `every call has the checks of its operation`(dialect: String, count: Int) async throws {
        try await with { _, client in
            let calls = try await calls(of: dialect, at: client)
            #expect(calls.count >= count && calls.contains(where: \.needsToken))
            for call in calls {
                let about: Comment = "\(call.method) \(call.path)"
                let takesBody = call.method != .GET
                func send(
                    _ query: String = "", body: [UInt8] = Array("{}".utf8), headers: HTTPHeaders = [:]
                ) async throws -> APIClient.Answer {
                    let answer = try await client.send(
                        call.method, call.path + query, raw: takesBody ? body : nil, headers: headers)
                    #expect(answer.headers.first(name: "cache-control") == "no-store", about)
                    #expect(answer.headers.first(name: "x-request-id") != nil, about)
                    return answer
                }
                let foreign = try await send(headers: ["origin": "https://evil.example"])
                #expect((foreign.status == 403) == !call.isPage, about)
                if takesBody {
                    let large = try await send(body: Array(repeating: UInt8(ascii: " "), count: 65 * 1024))
                    #expect(large.status == 413, about)
                }
                guard call.needsToken else { continue }
                #expect(try await send().status == 401, about)
                #expect(try await send("?access_token=t&apiKey=t").status == 401, about)
                let two = try await send(headers: ["authorization": "Bearer one", "Authorization": "Bearer other"])
                #expect(two.status == 401, about)
            }
        }
    }

    @Test func `calls of one operation count together at all doors`() async throws {
        try await with(rateLimits: "{ general: 3/h }") { _, client in
            let (tracker, immich) = (TimeTrackerApp(api: client), ImmichApp(api: client))
            let url = "\(ImmichApp.redirectURI)?code=unknown&state=unknown"
            #expect(try await tracker.exchange([:]).status == 400)
            #expect(try await immich.callback(url).status == 400)
            expectError(try await client.post("/auth/token"), 400, "MISSING_PARAMETER")
            #expect(try await tracker.exchange([:]).status == 429)
            #expect(try await immich.callback(url).status == 429)
            expectError(try await client.post("/auth/token"), 429, "RATE_LIMITED")
        }
    }

    @Test func `requests are counted by dialect, route and status`() async throws {
        try await with { _, client in
            _ = try await client.send(.GET, "/auth/me")
            _ = try await client.send(.GET, "/auth/unknown")
            _ = try await client.send(.GET, "/api/server/ping")
            let page = try await client.send(.GET, "/metrics").text
            for (dialect, route, status) in [
                ("timetracker", "/auth/me", 401), ("timetracker", "NotFound", 404), ("immich", "/api/server/ping", 200),
            ] {
                let labels = "dialect=\"\(dialect)\",route=\"\(route)\",status=\"\(status)\""
                #expect(page.contains("gatehouse_dialect_requests_total{\(labels)} 1.0"), "\(labels)")
            }
        }
    }
}
