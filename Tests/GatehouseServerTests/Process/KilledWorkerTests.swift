import Foundation
import GatehouseTesting
import Logging
import Migrations
import NIOHTTP1
import Postgres
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// If a server is killed while it sends mail, no mail is lost, and only the mail that it was about to mark as sent is
/// sent twice.
@Suite struct KilledWorkerTests {
    private static let messages = 40
    /// The number of the mail that the relay has accepted, but the server has not marked as sent, when the server is
    /// killed.
    private static let doubtful = 12
    /// The number of accepted mails after which the relay accepts no more connections, so that the remaining mails
    /// wait.
    private static let enough = 20

    @Test func `a worker killed between sending and marking leaves one message in doubt`() async throws {
        let isHolding = Mutex(true)
        let sink = try SMTPSink(counting: { event, taken in
            guard isHolding.withLock({ $0 }) else { return nil }
            if event == "QUIT", taken == Self.doubtful { return .hang }
            return event == "CONNECT" && taken >= Self.enough ? .hang : nil
        })
        defer { sink.close() }
        let url = try await TemporaryPostgres.database(migrations: Migrations.all)
        var file = ServerFile(database: url)
        file.delivery = "delivery: { email: { from: 'no-reply@demo.example', smtp: 'smtp://127.0.0.1:\(sink.port)' } }"
        try await withDatabase(url) { database in
            try await ProcessDirectory.with { directory in
                try await file.serve(in: directory) { process, client in
                    for _ in 0..<Self.messages {
                        let asked = try await client.post(
                            "/auth/email/otp", ["email": .string(APIClient.newAddress())])
                        try #require(asked.status == 202, "\(asked.text)")
                    }
                    // All of the worker's connections hang, so every other mail that was sent has been marked.
                    try await eventually("the relay holds everything up") { sink.hanging == 8 }
                    #expect(try await process.end(by: SIGKILL) == -SIGKILL)
                }
                let taken = sink.taken.count
                #expect(taken >= Self.enough && taken < Self.messages)
                #expect(try await unmarked(in: database) == Self.messages - taken + 1)

                isHolding.withLock { $0 = false }
                // The leases of the killed server expire.
                _ = try await database.execute(
                    Statement(.write, "UPDATE outbox SET due_at = now() WHERE sent_at IS NULL"), [])
                try await file.serve(in: directory) { _, _ -> Void in
                    try await eventually("everything is sent") { try await unmarked(in: database) == 0 }
                }
            }
            let mails = Dictionary(grouping: sink.taken) { $0.field("Message-ID") ?? "" }
            #expect(mails.count == Self.messages && mails[""] == nil)
            let repeated = mails.values.filter { $0.count > 1 }
            #expect(repeated.map(\.count) == [2], "each came once, and the doubtful one twice")
            #expect(repeated.first?[0].content == repeated.first?[1].content)
            #expect(repeated.first?[0].content == sink.taken[Self.doubtful - 1].content)
            #expect(Set(sink.taken.map(\.recipient)).count == Self.messages)
        }
    }

    private func unmarked(in database: Database) async throws -> Int {
        let rows = try await database.execute(
            Statement(.read, "SELECT count(*) FROM outbox WHERE sent_at IS NULL"), [])
        var row = try #require(rows.first)
        return try row.next()
    }

    private func withDatabase(_ url: String, _ body: (Database) async throws -> Void) async throws {
        let database = Database(.init(url: url), logger: TestServer.silence)
        database.start()
        try await attempt {
            try await body(database)
        } finally: {
            await database.stop()
        }
    }
}
