import Accounts
import Administration
import Foundation
import GatehouseTesting
import HTTPTypes
import Migrations
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer
@testable import HTTPAPI

/// Who reaches the admin API at all: listeners, address ranges, pages, scopes and applications.
struct AdminGuardTests {
    private static let admin = "{ application: demo }"

    /// Every operation of the admin API with its scope, from the declarations.
    private func operations(of server: TestServer) -> [(method: HTTPMethod, path: String, scope: AdminScope?)] {
        server.server.api.endpoints.compactMap { endpoint in
            guard case .administrator(let scope) = endpoint.guards.access else { return nil }
            let path = endpoint.path.replacing("{uid}", with: UUID().uuidString)
                .replacing("{id}", with: UUID().uuidString).replacing("{receipt}", with: UUID().uuidString)
                .replacing(/\{[a-z]+\}/, with: "x")
            return (HTTPMethod(rawValue: endpoint.method.rawValue), path, scope)
        }
    }

    private func call(
        _ method: HTTPMethod, _ path: String, _ client: APIClient, bearer: String? = nil, headers: HTTPHeaders = [:]
    ) async throws -> APIClient.Answer {
        try await client.send(
            method, path, raw: method == .GET ? nil : Array("{}".utf8), bearer: bearer, headers: headers)
    }

    @Test func `each operation needs its scope, in its own application`() async throws {
        try await TestServer.with(others: TestServer.photos, admin: Self.admin) { server in
            let client = APIClient(server)
            let all = Set(AdminScope.allCases.filter(\.isForKeys))
            let (whole, foreign) = (
                try await server.serviceKey(all), try await server.serviceKey(all, of: "photos")
            )
            let expired = try await server.serviceKey(all, lifetime: .seconds(3))
            let revoked = try await server.serviceKey(all)
            try await server.execute(
                "UPDATE service_keys SET expires_at = now() WHERE id = $1", [.text(id(of: expired))])
            try await server.execute(
                "UPDATE service_keys SET revoked_at = now() WHERE id = $1", [.text(id(of: revoked))])
            let operations = operations(of: server)
            #expect(operations.count > 5)
            for (method, path, scope) in operations {
                let about = "\(method) \(path)"
                expectError(try await call(method, path, client), 401, "INVALID_TOKEN", about)
                for key in [expired, revoked] {
                    expectError(try await call(method, path, client, bearer: key), 401, "INVALID_TOKEN", about)
                }
                expectError(
                    try await call(method, path, client, bearer: foreign), 404, "UNKNOWN_APPLICATION", about)
                guard let scope else { continue }
                let lacking = try await server.serviceKey(all.subtracting([scope]))
                let refused = try await call(method, path, client, bearer: lacking)
                expectError(refused, 403, "FORBIDDEN", about)
                #expect(refused["error"]["details"]["scope"].string == scope.rawValue)
                if scope.isForKeys {
                    let answer = try await call(method, path, client, bearer: whole)
                    #expect(answer.code != "FORBIDDEN" && answer.status < 500, "\(about): \(answer.text)")
                } else {
                    expectError(try await call(method, path, client, bearer: whole), 403, "FORBIDDEN", about)
                }
            }
            let refusals = try await server.audited().filter { $0.event == "admin.refused" }
            #expect(refusals.allSatisfy { $0.details["actor"]["key"].string != nil && $0.details["scope"] != .null })
            #expect(refusals.count >= operations.count { $0.scope != nil })
        }
    }

    private func id(of key: String) -> String { String(key.dropFirst(4).prefix(16)) }

    @Test func `pages and cookies do not reach it`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let client = APIClient(server)
            let key = try await server.serviceKey()
            let path = "/api/v1/admin/me"
            for headers: HTTPHeaders in [
                ["origin": "http://localhost:3000"], ["origin": "null"], ["origin": "http://127.0.0.1:1"],
            ] {
                let answer = try await client.send(.GET, path, bearer: key, headers: headers)
                expectError(answer, 403, "UNAUTHORIZED_REQUEST_ORIGIN")
                #expect(answer.headers.first(name: "access-control-allow-origin") == nil)
            }
            let cookie = try await client.send(.GET, path, headers: ["cookie": "gatehouse-console=x"])
            expectError(cookie, 403, "UNAUTHORIZED_REQUEST_ORIGIN")
            for authorization in ["Basic YTpi", "Bearer", "Bearer ", key] {
                let other = try await client.send(
                    .GET, path, headers: ["cookie": "gatehouse-console=x", "authorization": authorization])
                expectError(other, 403, "UNAUTHORIZED_REQUEST_ORIGIN", authorization)
            }
            let both = try await client.send(.GET, path, bearer: key, headers: ["cookie": "a=b"])
            #expect(both.status == 200)
            let preflight = try await client.send(
                .OPTIONS, path,
                headers: ["origin": "http://localhost:3000", "access-control-request-method": "GET"])
            #expect(preflight.status == 403)
        }
    }

    @Test func `without the section, and for other addresses, its paths are unknown`() async throws {
        @Sendable func expectUnknown(_ server: TestServer) async throws {
            let client = APIClient(server)
            let unknown = try await client.get("/admin2/me")
            for path in ["/admin/me", "/admin/openapi.json", "/admin/service-keys"] {
                for method: HTTPMethod in [.GET, .POST, .PUT] {
                    let answer = try await call(method, "/api/v1" + path, client, bearer: "ghk_x")
                    #expect(answer.status == 404 && answer.text == unknown.text, "\(method) \(path): \(answer.text)")
                }
            }
        }
        try await TestServer.with { try await expectUnknown($0) }
        try await TestServer.with(admin: "{ application: demo, allow: [10.0.0.0/8] }") { try await expectUnknown($0) }
        try await TestServer.with(
            server: "development: true, admin: { port: 0 }", admin: Self.admin
        ) { try await expectUnknown($0) }
    }

    @Test func `its own listener serves nothing else`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        let key = try await TestServer.with(database: database, admin: Self.admin) { try await $0.serviceKey() }
        var file = ServerFile(database: database)
        file.server = "development: true, admin: { port: 0 }"
        file.delivery = "admin: { application: demo }"
        try await ProcessDirectory.with { [file] directory in
            try await file.serve(in: directory) { process, main in
                let line = "the admin API is served"
                try await eventually("\(line)") { process.port(in: line) != nil }
                let port = try #require(process.port(in: line))
                let own = APIClient(url: "http://127.0.0.1:\(port)")
                #expect(try await own.get("/admin/me", bearer: key).status == 200)
                expectError(try await main.get("/admin/me", bearer: key), 404, "NOT_FOUND")
                for path in ["/auth/providers", "/auth/me"] {
                    expectError(try await own.get(path), 404, "NOT_FOUND", path)
                }
                for path in ["/metrics", "/openapi.json", "/.well-known/jwks.json", "/signin", "/"] {
                    #expect(try await own.send(.GET, path).status == 404, "\(path)")
                }
            }
        }
    }

    @Test func `a proxy that does not state its client counts as an unknown address`() async throws {
        try await TestServer.with(
            server: "development: true, trustedProxies: [127.0.0.1]",
            admin: "{ application: demo, allow: [127.0.0.0/8, 10.0.0.0/8] }"
        ) { server in
            let client = APIClient(server)
            let (key, bound) = (try await server.serviceKey(), try await server.serviceKey(clients: ["10.1.0.0/16"]))
            expectError(try await client.get("/admin/me", bearer: key), 404, "NOT_FOUND")
            func call(_ key: String, from address: String) async throws -> Int {
                try await client.send(
                    .GET, "/api/v1/admin/me", bearer: key, headers: ["x-forwarded-for": address]
                ).status
            }
            #expect(try await call(key, from: "10.2.0.1") == 200)
            #expect(try await call(key, from: "192.0.2.1") == 404)
            #expect(try await call(bound, from: "10.1.2.3") == 200)
            #expect(try await call(bound, from: "10.2.0.1") == 401)
        }
    }

    @Test func `its document describes every operation, and no other`() async throws {
        try await TestServer.with(admin: Self.admin) { server in
            let client = APIClient(server)
            let document = try await client.get("/admin/openapi.json")
            #expect(document.status == 200)
            let paths = try #require(document["paths"].object)
            #expect(paths.keys.allSatisfy { $0.hasPrefix("/api/v1/admin/") })
            let described = paths.values.reduce(0) { $0 + $1.keys.count }
            #expect(described == operations(of: server).count)
            #expect(document["components"]["securitySchemes"].keys == ["serviceKey"])
            let main = try await client.send(.GET, "/openapi.json")
            #expect(main["paths"].keys.allSatisfy { !$0.hasPrefix("/api/v1/admin") })
        }
    }

    @Test func `beyond four calls at once, a call waits for its turn and is then refused with 503`() async throws {
        let capacity = AdminCapacity(places: 4, patience: .milliseconds(100))
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            for _ in 0..<4 {
                group.addTask {
                    try await capacity.run {
                        start.yield()
                        // Until it is cancelled.
                        try? await Task.sleep(for: .seconds(3600))
                    }
                }
            }
            var count = 0
            for await _ in started {
                count += 1
                if count == 4 { break }
            }
            await #expect(throws: AccountsError.self) { try await capacity.run {} }
            group.cancelAll()
            try await group.waitForAll()
        }
        try await capacity.run {}
    }

    @Test(.needsOneNode)
    func `with the fewest connections, a plan and other calls leave one to people`() async throws {
        #expect([3, 4, 6, 16].map { AdminCapacity(transactions: $0).places } == [1, 2, 4, 4])
        try await TestServer.with(providers: "scripted: {}", admin: Self.admin, connections: 1) { server in
            let client = APIClient(server)
            let person = try await client.newcomer("ada")
            let key = try await server.serviceKey([.readServer, .writeAccounts, .writeProviders])
            let other = Database(Database.Configuration(url: server.databaseURL), logger: TestServer.silence)
            other.start()
            let (plan, lists) = try await other.transaction { transaction in
                try await transaction.script("LOCK TABLE redirect_flows, admin_notes IN ACCESS EXCLUSIVE MODE")
                let plan = Task { try await client.plan("email", "off", key) }
                let lists = (0..<4).map { _ in
                    Task { try await client.get("/admin/accounts/\(person.uid)/notes", bearer: key) }
                }
                try await server.awaitBlocked(2)
                #expect(try await client.link(.somebody("bob"), bearer: person.accessToken).status == 200)
                #expect(try await server.count("SELECT count(*) FROM provider_plans") == 0)
                return (plan, lists)
            }
            #expect(try await plan.value["stranded"] != .null)
            for list in lists { #expect(try await list.value.status == 200) }
            await other.stop()
        }
    }
}
