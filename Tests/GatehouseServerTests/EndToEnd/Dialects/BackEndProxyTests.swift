import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1
import ProviderKit
import Synchronization
import Testing

/// Debian's nginx and Caddy with the configuration that docs/dialects.md prints, in front of the server and a back end.
@Suite(.serialized) struct BackEndProxyTests {
    enum Proxy: String, CaseIterable, Sendable {
        case nginx, caddyfile

        var program: String { self == .nginx ? "/usr/sbin/nginx" : "/usr/bin/caddy" }

        /// The documented configuration, with the places of the servers of the test.
        func configuration(port: Int, server: Int, backEnd: Int) throws -> String {
            let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../..")
            let page = try String(contentsOf: root.appending(path: "docs/dialects.md"), encoding: .utf8)
            let blocks = page.matches(of: /(?s)```([a-z]+)\n(.*?)```/).filter { $0.output.1 == rawValue }
            try #require(blocks.count == 1)
            let printed = String(blocks[0].output.2).replacing("gatehouse:8080", with: "127.0.0.1:\(server)")
                .replacing("backend:3001", with: "127.0.0.1:\(backEnd)")
            switch self {
            case .caddyfile:
                let options = "{\n admin off\n auto_https off\n}\n"
                return options + printed.replacing("timer.example {", with: "http://127.0.0.1:\(port) {")
            case .nginx:
                let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \($0);" }
                return """
                    daemon off; master_process off; user root; pid nginx.pid; error_log stderr;
                    events {}
                    http {
                        access_log off; \(places.joined(separator: " "))
                        server { listen 127.0.0.1:\(port); \(printed) }
                    }
                    """
            }
        }

        func arguments(_ directory: ProcessDirectory) -> [String] {
            switch self {
            case .nginx: ["-p", directory.url.path, "-e", "stderr", "-c", directory.path("proxy.conf")]
            case .caddyfile: ["run", "--adapter", "caddyfile", "--config", directory.path("proxy.conf")]
            }
        }
    }

    /// A back end that answers with the header fields and the body that reached it.
    private final class BackEnd: Sendable {
        private let served = Mutex(0)

        /// The number of requests that have reached it.
        var count: Int { served.withLock { $0 } }

        func respond(to request: Request) async throws -> Response {
            served.withLock { $0 += 1 }
            var fields: [String: JSONValue] = [:]
            for field in request.headers { fields[field.name.canonicalName] = .string(field.value) }
            let body = String(buffer: try await request.body.collect(upTo: 1 << 20))
            let answer: JSONValue = ["fields": .object(fields), "body": .string(body)]
            return Response(
                status: .ok, body: .init(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(answer))))
        }
    }

    /// Runs the body with a client of the proxy; without `server` nothing listens where the server should be.
    private func with(
        _ proxy: Proxy, server: TestServer?,
        _ body: @Sendable @escaping (APIClient, BackEnd) async throws -> Void
    ) async throws {
        let backEnd = BackEnd()
        let free = { @Sendable in try await UpstreamServer.serve({ _ in Response(status: .ok) }, { $0 }) }
        let (port, nobody) = (try await free(), try await free())
        let place = server.flatMap { URL(string: $0.url)?.port } ?? nobody
        try await UpstreamServer.serve({ try await backEnd.respond(to: $0) }) { behind in
            try await ProcessDirectory.with { directory in
                let text = try proxy.configuration(port: port, server: place, backEnd: behind)
                try directory.write(text, to: "proxy.conf")
                let home = ["HOME": directory.url.path, "XDG_DATA_HOME": directory.url.path]
                try await GatehouseProcess.with(
                    proxy.arguments(directory), program: proxy.program, in: directory, environment: home
                ) { process in
                    var client = APIClient(url: "http://127.0.0.1:\(port)")
                    client.host = "127.0.0.1:1"
                    try await eventually("the proxy listens: \(process.errors)") {
                        (try? await client.send(.GET, "/")) != nil
                    }
                    try await body(client, backEnd)
                }
            }
        }
    }

    @Test(arguments: Proxy.allCases)
    func `a live token reaches the back end as a short one that is signed`(proxy: Proxy) async throws {
        try await TestServer.with(
            application: TimeTrackerApp.configuration("session: { idle: 10d, lifetime: 30d }"),
            providers: "scripted: {}"
        ) { server in
            let app = TimeTrackerApp(api: APIClient(server))
            let signedIn = try await app.signIn(.somebody("ada", email: "ada@example.com"))
            let person = try await app.api.register(at: server)
            let keys = try await app.api.send(.GET, "/.well-known/jwks.json")["keys"].array ?? []
            try await with(proxy, server: server) { client, backEnd in
                for (bearer, uid) in [(signedIn.accessToken, signedIn.user.id), (person.accessToken, person.uid)] {
                    let answer = try await client.send(
                        .POST, "/entries?day=1", raw: Array("work".utf8), bearer: bearer,
                        headers: ["x-gatehouse-token": "forged", "content-type": "text/plain"])
                    try #require(answer.status == 200, "\(answer.text)")
                    #expect(answer["body"] == "work")
                    let fields = answer["fields"]
                    let passed = try #require(fields["authorization"].string?.split(separator: " ").last)
                    let token = try DecodedToken(String(passed))
                    let key = try #require(keys.first { $0["kid"] == token.header["kid"] })
                    #expect(try token.isSigned(by: key))
                    #expect(token.claims["sub"].string == uid && token.claims["aud"] == "demo")
                    #expect(token.text != bearer)
                    if proxy == .caddyfile { #expect(fields["x-gatehouse-token"] == .null) }
                }
                let reached = backEnd.count
                for bearer in [nil, "ghs_x", "forged"] {
                    let refused = try await client.send(.GET, "/entries", bearer: bearer)
                    #expect(refused.status == 401, "\(refused.text)")
                }
                // The other paths are the server's.
                let out = try await client.send(.POST, "/api/v1/auth/logout", bearer: signedIn.accessToken)
                #expect(out.status == 204, "\(out.text)")
                #expect(try await client.send(.GET, "/entries", bearer: signedIn.accessToken).status == 401)
                #expect(try await client.send(.GET, "/gatehouse-check").status >= 400)
                #expect(backEnd.count == reached)
            }
        }
    }

    @Test(arguments: Proxy.allCases)
    func `the token in a dialect's own field counts, and does not reach the back end`(proxy: Proxy) async throws {
        try await ImmichApp.with { server, app in
            let (bearer, other) = (try await app.token(at: server), try await app.api.guest().accessToken)
            try await with(proxy, server: server) { client, backEnd in
                for field in ["x-immich-user-token", "x-immich-session-token"] {
                    let answer = try await client.send(.GET, "/api/assets", headers: [field: bearer])
                    try #require(answer.status == 200, "\(field): \(answer.text)")
                    let fields = answer["fields"]
                    let passed = try #require(fields["authorization"].string?.split(separator: " ").last)
                    let token = try DecodedToken(String(passed))
                    #expect(token.header["typ"] == "at+jwt" && token.claims["aud"] == "demo")
                    #expect(fields[field] == .null && !answer.text.contains(bearer), "\(answer.text)")
                }
                let reached = backEnd.count
                let refusals: [HTTPHeaders] = [
                    ["x-immich-user-token": "ghs_x"], ["x-api-key": bearer],
                    ["x-immich-user-token": bearer, "authorization": "Bearer \(other)"],
                ]
                for fields in refusals {
                    let refused = try await client.send(.GET, "/api/assets", headers: fields)
                    #expect(refused.status == 401, "\(fields): \(refused.text)")
                }
                #expect(try await app.call(.POST, "/auth/logout", token: bearer).status == 200)
                let ended = try await client.send(.GET, "/api/assets", headers: ["x-immich-user-token": bearer])
                #expect(ended.status == 401 && backEnd.count == reached, "\(ended.text)")
            }
        }
    }

    @Test(arguments: Proxy.allCases)
    func `while the server is away nothing reaches the back end`(proxy: Proxy) async throws {
        try await with(proxy, server: nil) { client, backEnd in
            let answer = try await client.send(.GET, "/entries", bearer: "anything")
            #expect(answer.status >= 500, "\(answer.text)")
            #expect(backEnd.count == 0)
        }
    }
}
