import GatehouseTesting
import NIOHTTP1
import Testing

@testable import GatehouseServer

/// A replica behind a pooler that drops notifications, as PgBouncer does in transaction mode.
@Suite(.serialized) struct PoolerTests {
    private static let deaf = "warning notifications do not arrive"
    private static let hears = "notice notifications arrive again"

    /// Runs the body with two servers, the second of which connects through the pooler.
    private func withReplicas(
        _ behaviour: DatabaseProxy.Behaviour,
        _ body:
            @Sendable @escaping (
                _ first: APIClient, _ second: APIClient, _ pooler: DatabaseProxy, _ log: CollectedLog
            ) async throws -> Void
    ) async throws {
        try await TestServer.with { first in
            let pooler = try DatabaseProxy(before: first.databaseURL, behaviour)
            defer { pooler.stop() }
            let log = CollectedLog()
            let url = DatabaseProxy.url(first.databaseURL, by: [pooler])
            try await TestServer.with(database: url, logger: log.logger) { second in
                try await body(APIClient(first), APIClient(second), pooler, log)
            }
        }
    }

    private func gauge(_ client: APIClient) async throws -> String? {
        let page = try await client.send(.GET, "/metrics").text
        let line = page.split(separator: "\n").first { $0.hasPrefix("gatehouse_replica_channel_current ") }
        return line?.split(separator: " ").last.map(String.init)
    }

    @Test func `without notifications sessions are looked up`() async throws {
        try await withReplicas(.droppingNotifications) { first, second, pooler, log in
            _ = try await eventually("it is told") { log.lines.contains { $0.hasPrefix(Self.deaf) } }
            for _ in 1...20 {
                let guest = try await first.guest()
                #expect(try await second.status(of: guest.accessToken) == 200)
                try #require(await first.post("/auth/logout", bearer: guest.accessToken).status == 204)
                #expect(try await second.status(of: guest.accessToken) == 401)
            }
            _ = try await eventually("it is shown") { try await gauge(second) == "0.0" }
            _ = try await eventually("the first one hears") { try await gauge(first) == "1.0" }
            pooler.turn(.forwarding)
            _ = try await eventually("it is told") { log.lines.contains(Self.hears) }
            _ = try await eventually("it is shown") { try await gauge(second) == "1.0" }
            #expect(log.lines.count { $0.hasPrefix(Self.deaf) } == 1)
        }
    }

    @Test func `missed notifications are recovered once the channel is back`() async throws {
        try await withReplicas(.forwarding) { first, second, pooler, log in
            _ = try await eventually("it hears") { try await gauge(second) == "1.0" }
            for round in 1...3 {
                let guests = [try await first.guest(), try await first.guest()]
                for guest in guests { #expect(try await second.status(of: guest.accessToken) == 200) }
                pooler.turn(.droppingNotifications)
                try #require(await first.post("/auth/logout", bearer: guests[0].accessToken).status == 204)
                let elapsed = try await second.timeToRefusal(of: guests[0].accessToken)
                print("dropped: refused after \(elapsed.milliseconds) ms")
                #expect(elapsed < .seconds(1))
                _ = try await eventually("it is told") { log.lines.count { $0.hasPrefix(Self.deaf) } == round }
                pooler.turn(.forwarding)
                _ = try await eventually("it is told") { log.lines.count { $0 == Self.hears } == round }
                #expect(try await second.status(of: guests[0].accessToken) == 401)
                #expect(try await second.status(of: guests[1].accessToken) == 200)
            }
        }
    }
}
