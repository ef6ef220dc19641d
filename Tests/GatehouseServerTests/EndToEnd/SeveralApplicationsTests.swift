import Accounts
import Foundation
import Postgres
import Storage
import Testing

@testable import GatehouseServer

/// Queues and sweepers go through all applications that have a number, one after another.
struct SeveralApplicationsTests {
    private static let webhook = "https://hooks.example/unconfigured"

    private func announce(_ count: Int, of application: Int, at server: TestServer) async throws {
        try await server.execute(
            """
            INSERT INTO webhook_deliveries (application_id, event_id, webhook, name, kind, uid)
            SELECT $1::int8, gen_random_uuid(), $2, 'unconfigured', 'account.created', gen_random_uuid()
              FROM generate_series(1, $3::int8)
            """, [.int(application), .text(Self.webhook), .int(count)])
    }

    private func addFormerApplication(to server: TestServer) async throws -> Int {
        try await server.execute("INSERT INTO applications (name) VALUES ('former')")
        return try await server.count("SELECT id::int8 FROM applications WHERE name = 'former'")
    }

    @Test func `rows of an application that is no longer configured are swept, and its messages taken`() async throws {
        try await TestServer.with { server in
            let former = try await addFormerApplication(to: server)
            try await server.execute(
                """
                INSERT INTO used_proofs (application_id, provider, hash, expires_at)
                VALUES ($1::int8, 'google', sha256('proof'), now() - interval '11 minutes')
                """, [.int(former)])
            try await server.execute(
                """
                INSERT INTO outbox (application_id, id, topic, sealed)
                VALUES ($1::int8, gen_random_uuid(), 'any', 'unreadable')
                """, [.int(former)])
            #expect(try await ExpiredRows(database: server.backend.database).remove() == 1)
            try await eventually("the message is taken") {
                try await server.count("SELECT count(*) FROM outbox WHERE failure = 'unreadable'") == 1
            }
        }
    }

    @Test func `no application waits until the queue of another is empty`() async throws {
        try await TestServer.with { server in
            let own = Int(try await server.application().id.rawValue)
            let former = try await addFormerApplication(to: server)
            try await announce(40, of: own, at: server)
            try await announce(40, of: former, at: server)
            let queue = WebhookDeliveriesTable(database: server.backend.database, arrivals: AsyncStream { _ in })
            var taken: [Int] = []
            for _ in 1...40 {
                let deliveries = try await queue.take([Self.webhook: 1], lease: .seconds(60))
                taken += deliveries.map { Int($0.application.rawValue) }
            }
            // Each call begins with an application chosen at random: 40 calls miss one of the two once in 2^39 runs.
            #expect(taken.count == 40)
            #expect(Set(taken) == [own, former])
            // The rest fits into one call, which takes from both.
            let rest = try await queue.take([Self.webhook: 99], lease: .seconds(60))
            #expect(rest.count == 40)
            #expect(Set(rest.map(\.applicationName)).count == 2)
        }
    }
}
