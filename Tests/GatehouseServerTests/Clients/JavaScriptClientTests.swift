import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The files of the client for JavaScript as the server serves them, and the client in Node.
struct JavaScriptClientTests {
    private static let node = "/usr/bin/node"
    private static let typeScript = "/usr/bin/tsc"
    static var hasNode: Bool { NeededProgram.isExpected(node) }
    static var hasTypeScript: Bool { NeededProgram.isExpected(typeScript) }

    /// What the client must not exceed, compressed by gzip.
    private static let mostBytes = 12_288

    @Test(arguments: [nil, "photos"])
    func `every application serves the modules to all origins, and immutable copies of them`(
        application: String?
    ) async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let client = APIClient(server, application: application)
            let manifest = try await client.send(.GET, "/client/manifest.json")
            #expect(manifest.status == 200 && manifest.json.keys == ["gatehouse.js", "webcom-auth.js"])
            let prefix = application.map { "/apps/\($0)" } ?? ""
            for name in manifest.json.keys {
                let headers: HTTPHeaders = ["origin": "https://any.example"]
                let file = try await client.send(.GET, "/client/\(name)", headers: headers)
                let source = try String(contentsOf: ClientApp.sources.appending(path: name), encoding: .utf8)
                #expect(file.status == 200 && file.text == source)
                let path = try #require(manifest[name].string)
                #expect(path.hasPrefix("\(prefix)/client/"), "\(path)")
                let copy = try await client.send(.GET, String(path.dropFirst(prefix.count)), headers: headers)
                #expect(copy.status == 200)
                for answer in [file, copy] {
                    #expect(answer.headers.first(name: "access-control-allow-origin") == "*")
                    #expect(answer.headers.first(name: "content-type") == "text/javascript; charset=utf-8")
                    #expect(answer.headers.first(name: "x-content-type-options") == "nosniff")
                }
                #expect(file.headers.first(name: "cache-control") == "public, max-age=300")
                #expect(copy.headers.first(name: "cache-control") == "public, max-age=31536000, immutable")
                let tag = try #require(file.headers.first(name: "etag"))
                let again = try await client.send(
                    .GET, "/client/\(name)", headers: ["if-none-match": "W/\"other\", W/\(tag)"])
                #expect(again.status == 304 && again.body.isEmpty)
            }
            // A copy imports copies.
            let copies = try manifest.json.keys.map { try #require(manifest[$0].string?.split(separator: "/").last) }
            let webcom = try #require(copies.first { $0.hasPrefix("webcom") })
            let module = try #require(copies.first { $0.hasPrefix("gatehouse") })
            #expect(try await client.send(.GET, "/client/\(webcom)").text.contains("from \"./\(module)\""))
            #expect(try await client.send(.GET, "/client/gatehouse-0123.js").status == 404)
        }
    }

    @Test(.enabled(if: hasNode, "Debian's package nodejs is not installed"))
    func `the client is at most 12,288 bytes, compressed`() async throws {
        let outcome = try await Self.run([
            "-e",
            """
            const text = require("fs").readFileSync(process.argv[1]);
            process.stdout.write(String(require("zlib").gzipSync(text, { level: 9 }).length));
            """, ClientApp.sources.appending(path: "gatehouse.js").path,
        ])
        let size = try #require(Int(outcome.output), "\(outcome)")
        #expect(size > 0 && size <= Self.mostBytes, "\(size) bytes")
    }

    @Test(.enabled(if: hasTypeScript, "Debian's package node-typescript is not installed"))
    func `TypeScript accepts the types`() async throws {
        let files = ["gatehouse.js", "webcom-auth.js"].map { ClientApp.sources.appending(path: $0).path }
        let outcome = try await Self.run(
            [
                "--checkJs", "--allowJs", "--noEmit", "--target", "es2022", "--module", "es2022", "--lib",
                "es2022,dom,dom.iterable",
            ] + files, program: Self.typeScript)
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test(.enabled(if: hasNode, "Debian's package nodejs is not installed"))
    func `Node is of version 20 or later`() async throws {
        let outcome = try await Self.run(["--version"])
        print("The client runs in Node \(outcome.output)", terminator: "")
        let major = outcome.output.dropFirst().prefix { $0.isNumber }
        #expect(Int(major).map { $0 >= 20 } == true, "\(outcome)")
    }

    /// Runs `calls.mjs`, which makes every call, `webcom.mjs`, which makes those of the Webcom library, and `faults.mjs`,
    /// in which networks, servers, clocks and storages fail.
    ///
    /// All check that no URL of the server, no error and nothing printed contains a token.
    @Test(
        .enabled(if: hasNode, "Debian's package nodejs is not installed"),
        arguments: ["calls.mjs", "faults.mjs", "webcom.mjs"])
    func `the client runs in Node, imported as a file`(script: String) async throws {
        let log = CollectedLog()
        try await ClientApp.with(logger: log.logger) { app, server in
            let outcome = try await Self.run([
                ClientApp.files.appending(path: script).path, ClientApp.sources.path, server.url, app.url,
            ])
            #expect(outcome.status == 0 && outcome.output == "ok\n", "\(outcome.output) \(outcome.errors)")
        }
        // The hint to a provider's page in `calls.mjs`.
        #expect(!log.lines.isEmpty && !log.lines.contains { $0.contains("MSISDN:33612345678") })
    }

    private static func run(
        _ arguments: [String], program: String = node
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await ProcessDirectory.with { directory in
            try await GatehouseProcess.with(arguments, program: program, in: directory) { process in
                (try await process.end(within: .seconds(300)), process.output, process.errors)
            }
        }
    }
}
