import Foundation
import NIOHTTP1
import ProviderKit
import Testing

/// A dialect exists only in applications that name it.
struct DialectSwitchTests {
    private static let paths = ["/auth/login", "/auth/token", "/auth/me", "/auth/logout", "/openapi/timetracker.json"]
    private static let methods: [HTTPMethod] = [.GET, .POST, .PUT, .PATCH, .DELETE, .OPTIONS]
    private static let timer = """
          timer:
            hosts: [timer.example]
            origins: ["https://timer.example"]
            redirectURIs: [{ uri: "timetracker://oauth/callback", pkce: false }]
            dialects: { timetracker: { provider: scripted } }
            providers: { scripted: {} }
        """

    @Test func `where it is off every path is 404 with any method, by prefix and by host`() async throws {
        try await TestServer.with(others: TestServer.photos + "\n" + Self.timer) { server in
            let client = APIClient(server)
            for (prefix, host) in [("", "127.0.0.1:1"), ("/apps/photos", "127.0.0.1:1"), ("", "photos.example")] {
                for path in Self.paths {
                    for method in Self.methods {
                        let answer = try await client.send(method, prefix + path, headers: ["host": host])
                        expectError(answer, 404, "NOT_FOUND", "\(method) \(host) \(prefix)\(path)")
                        #expect(answer.headers.first(name: "allow") == nil)
                    }
                }
            }
            let preflight = try await client.send(
                .OPTIONS, "/auth/me",
                headers: ["origin": "http://localhost:3000", "access-control-request-method": "GET"])
            expectError(preflight, 404, "NOT_FOUND")
        }
    }

    @Test func `where it is on its errors have its form, by prefix and by host`() async throws {
        try await TestServer.with(others: Self.timer) { server in
            let client = APIClient(server)
            for (prefix, host) in [("/apps/timer", "127.0.0.1:1"), ("", "timer.example")] {
                func send(_ method: HTTPMethod, _ path: String) async throws -> APIClient.Answer {
                    try await client.send(method, prefix + path, headers: ["host": host])
                }
                expectFailure(try await send(.GET, "/auth/me"), 401, "Unauthorized")
                expectFailure(try await send(.GET, "/auth/nothing"), 404, "There is nothing at this path")
                let other = try await send(.PUT, "/auth/me")
                expectFailure(other, 405, "This path answers GET, HEAD")
                #expect(other.headers.first(name: "allow") == "GET, HEAD")
                expectError(try await send(.GET, "/api/v1/auth/me"), 401, "INVALID_TOKEN", "version 1 is as it was")
                let document = try await send(.GET, "/openapi/timetracker.json")
                #expect(document.json["paths"].keys == ["/auth/login", "/auth/token", "/auth/me", "/auth/logout"])
                let own = try await send(.GET, "/openapi.json")
                #expect(own.status == 200 && own.json["paths"].keys.isDisjoint(with: Self.paths))
            }
        }
    }

    private static let photoPaths = [
        "/.well-known/immich", "/api/server/ping", "/api/server/version", "/api/server/config", "/api/server/features",
        "/api/auth/login", "/api/oauth/authorize", "/api/oauth/callback", "/api/users/me", "/api/auth/validateToken",
        "/api/auth/status", "/api/auth/change-password", "/api/auth/logout", "/api/auth/pin-code",
        "/api/auth/pin-code/verify", "/api/auth/session/unlock", "/api/auth/session/lock", "/openapi/immich.json",
    ]
    private static let album = """
          album:
            hosts: [album.example]
            redirectURIs: ["\(ImmichApp.redirectURI)"]
            dialects: { immich: { version: "1.119.0" } }
            providers: { scripted: {}, email: { enabled: true, verificationLink: "https://album.example/verify" } }
        """

    @Test func `Immich is served where one application has it, and nowhere else`() async throws {
        try await TestServer.with(others: TestServer.photos + "\n" + Self.album) { server in
            let client = APIClient(server)
            for (prefix, host) in [("", "127.0.0.1:1"), ("/apps/photos", "127.0.0.1:1"), ("", "photos.example")] {
                for path in Self.photoPaths {
                    for method in Self.methods {
                        let answer = try await client.send(method, prefix + path, headers: ["host": host])
                        expectError(answer, 404, "NOT_FOUND", "\(method) \(host) \(prefix)\(path)")
                        #expect(answer.headers.first(name: "allow") == nil)
                    }
                }
            }
            for (prefix, host) in [("/apps/album", "127.0.0.1:1"), ("", "album.example")] {
                for path in Self.photoPaths {
                    let answer = try await client.send(.GET, prefix + path, headers: ["host": host])
                    #expect(answer.status != 404, "\(host) \(prefix)\(path): \(answer.text)")
                    #expect(answer.json["error"].object == nil, "\(prefix)\(path): \(answer.text)")
                }
                let nothing = try await client.send(.GET, prefix + "/api/auth/nothing", headers: ["host": host])
                expectImmich(nothing, 404, "NOT_FOUND", "There is nothing at this path")
                let document = try await client.send(.GET, prefix + "/openapi/immich.json", headers: ["host": host])
                let served = document.json["paths"].keys.union(["/openapi/immich.json"])
                #expect(served == Set(Self.photoPaths), "the table names every path")
            }
        }
    }

    @Test func `only listed origins may call it from browsers`() async throws {
        try await TestServer.with(others: Self.timer) { server in
            let client = APIClient(server, application: "timer")
            let refused = try await client.send(.GET, "/auth/me", headers: ["origin": "https://evil.example"])
            expectFailure(refused, 403, "This origin is not on the application's list")
            let listed = try await client.send(.GET, "/auth/me", headers: ["origin": "https://timer.example"])
            #expect(listed.status == 401)
            #expect(listed.headers.first(name: "access-control-allow-origin") == "https://timer.example")
        }
    }
}
