import Administration
import Console
import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import Testing

@testable import GatehouseServer

/// At which listeners, hosts and paths the console is.
struct ConsoleReachTests {
    private static let paths = [
        "/console", "/console/demo", "/console/callback", "/console/sign-in", "/console/sign-out",
        "/console/demo/keys/rotate", ConsoleAsset.style.path,
    ]

    /// Expects that no answer tells a path of the console from one that does not exist.
    private static func expectUnknown(_ server: TestServer) async throws {
        let client = APIClient(server)
        for headers: HTTPHeaders in [[:], ["accept": "text/html"]] {
            for method: HTTPMethod in [.GET, .HEAD, .POST, .PUT] {
                let unknown = try await client.send(method, "/nothing/here", headers: headers)
                for path in paths {
                    let answer = try await client.send(method, path, headers: headers)
                    #expect(answer.status == 404 && unknown.status == 404, "\(method) \(path): \(answer.status)")
                    #expect(stable(answer.text) == stable(unknown.text), "\(method) \(path): \(answer.text)")
                    #expect(names(of: answer) == names(of: unknown), "\(method) \(path)")
                }
            }
        }
    }

    /// The page without the number that differs in each answer.
    private static func stable(_ page: String) -> String { page.replacing(/nonce="[^"]*"/, with: "") }

    private static func names(of answer: APIClient.Answer) -> Set<String> {
        Set(answer.headers.map { $0.name.lowercased() })
    }

    @Test func `where there is no console, its paths are unknown`() async throws {
        try await TestServer.with { try await Self.expectUnknown($0) }
        try await TestServer.with(application: "openid: {}") { try await Self.expectUnknown($0) }
        try await TestServer.with(application: "openid: {}", admin: "{ application: demo }") {
            try await Self.expectUnknown($0)
        }
    }

    @Test func `clients outside the ranges, and the listener of apps, do not know it`() async throws {
        try await TestServer.withConsole(admin: "allow: [10.0.0.0/8]") { try await Self.expectUnknown($0) }
        try await TestServer.withConsole(
            server: "development: true, admin: { port: 0, publicURL: \"https://admin.example\" }"
        ) { try await Self.expectUnknown($0) }
    }

    @Test func `a client inside the ranges reaches it`() async throws {
        try await TestServer.withConsole(
            server: "development: true, trustedProxies: [127.0.0.1]", admin: "allow: [10.0.0.0/8]"
        ) { server in
            let client = APIClient(server)
            for (address, status) in [("10.1.2.3", 303), ("192.0.2.1", 404)] {
                let answer = try await client.send(.GET, "/console", headers: ["x-forwarded-for": address])
                #expect(answer.status == status, "\(address)")
            }
        }
    }

    @Test func `it is served at its own host, without an application's prefix`() async throws {
        try await TestServer.withConsole(others: TestServer.photos) { server in
            let client = APIClient(server)
            for host in ["photos.example", "localhost:1", "evil.example"] {
                let moved = try await client.send(.GET, "/console/demo?a=b", headers: ["host": host])
                #expect(moved.status == 303 && moved.headers["set-cookie"].isEmpty, "\(host)")
                #expect(moved.headers.first(name: "location") == PageBrowser.issuer + "/console/demo?a=b", "\(host)")
            }
            for prefix in ["/apps/photos", "/apps/demo", "/apps/nowhere"] {
                #expect(try await client.send(.GET, prefix + "/console").status == 404, "\(prefix)")
                #expect(try await client.send(.GET, prefix + ConsoleAsset.style.path).status == 404, "\(prefix)")
            }
        }
    }

    @Test func `its own listener serves it with cookies for https alone, and signs in at the main one`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        let person = try await TestServer.withConsole(database: database) { server in
            let person = try await APIClient(server).register(at: server)
            try await server.grant(.owner, to: person)
            return person
        }
        var file = ServerFile(database: database)
        file.server =
            "development: true, trustedProxies: [127.0.0.1], admin: { port: 0, publicURL: \"https://admin.example\" }"
        file.delivery = "admin: { application: demo, console: true }"
        file.application = "openid: {}"
        try await ProcessDirectory.with { [file] directory in
            try await file.serve(in: directory) { process, main in
                let line = "the admin API is served"
                try await eventually("\(line)") { process.port(in: line) != nil }
                let port = try #require(process.port(in: line))
                let own = APIClient(url: "http://127.0.0.1:\(port)")
                let proxied: HTTPHeaders = [
                    "host": "admin.example", "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1",
                ]
                #expect(try await main.send(.GET, "/console").status == 404)
                let away = try await own.send(.GET, "/console", headers: proxied)
                let flow = try #require(away.headers["set-cookie"].first, "\(away.status) \(away.text)")
                #expect(flow.hasPrefix("__Host-gatehouse-console-flow="), "\(flow)")
                #expect(flow.hasSuffix("; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=1800"), "\(flow)")
                let target = try #require(away.headers.first(name: "location"))
                #expect(target.hasPrefix(PageBrowser.issuer + "/oauth/authorize?"), "\(target)")

                // Chromium does not let the form redirect to another origin, so the page has a link to it.
                var form = proxied
                form.add(name: "content-type", value: "application/x-www-form-urlencoded")
                form.add(name: "sec-fetch-site", value: "same-origin")
                let link = try await own.send(.POST, "/console/demo/keys/rotate", raw: Array("a=b".utf8), headers: form)
                #expect(link.status == 403 && link.headers["location"].isEmpty && !link.headers["set-cookie"].isEmpty)
                #expect(
                    link.text.contains("<a id=\"again\" href=\"\(PageBrowser.issuer)/oauth/authorize?"), "\(link.text)")

                var issuer = main
                issuer.host = "127.0.0.1:1"
                var pages = PageBrowser(issuer)
                let back = try await pages.signIn(person, at: pages.open(target))
                let callback = try #require(back.target, "\(back.status) \(back.text)")
                #expect(callback.hasPrefix("https://admin.example/console/callback?"), "\(callback)")
                var headers = proxied
                headers.add(name: "cookie", value: String(flow.prefix { $0 != ";" }))
                let path = String(callback.dropFirst("https://admin.example".count))
                let done = try await own.send(.GET, path, headers: headers)
                #expect(done.status == 303 && done.headers.first(name: "location") == "/console", "\(done.text)")
                let cookie = try #require(
                    done.headers["set-cookie"].first { $0.hasPrefix("__Host-gatehouse-console=") })
                #expect(cookie.hasSuffix("; Path=/; Secure; HttpOnly; SameSite=Lax"), "\(cookie)")
                headers.replaceOrAdd(name: "cookie", value: String(cookie.prefix { $0 != ";" }))
                #expect(try await own.send(.GET, "/console/demo", headers: headers).status == 200)
            }
        }
    }

    @Test func `HEAD is not answered, because a page uses up what it shows`() async throws {
        try await ConsoleBrowser.with { _, browser in
            let answer = try await browser.send(.HEAD, "/console/demo")
            #expect(answer.status == 405 && answer.headers.first(name: "allow") == "GET" && answer.text.isEmpty)
            #expect(try await browser.send(.HEAD, ConsoleAsset.style.path).status == 200)
        }
    }
}
