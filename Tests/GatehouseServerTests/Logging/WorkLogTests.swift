import Foundation
import Logging
import NIOHTTP1
import Storage
import Testing

@testable import GatehouseServer

/// A failure of background work is logged once, and its end is logged once.
struct WorkLogTests {
    private struct Failure: Error {}

    @Test func `a failure and its end are logged once each`() async {
        let log = CollectedLog()
        let failure = WorkLog("Something waits", logger: log.logger)
        let done = await failure.watch { 1 }
        #expect(done == 1 && log.lines.isEmpty)
        for _ in 1...3 { await failure.watch { throw Failure() } }
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.hasPrefix("warning Something waits") == true)
        for _ in 1...3 { await failure.watch {} }
        #expect(log.lines.count == 2)
        #expect(log.lines.last?.hasPrefix("notice It works again") == true)
    }

    @Test func `a failure to look for erasures is logged`() async throws {
        let log = CollectedLog()
        try await TestServer.with(logger: log.logger) { server in
            try await server.execute("ALTER TABLE erasures RENAME TO elsewhere")
            try await eventually("it is told") { log.lines.contains { $0.hasPrefix("warning Erasures wait") } }
            try await server.execute("ALTER TABLE elsewhere RENAME TO erasures")
            try await eventually("its end is told") {
                log.lines.contains { $0.hasPrefix("notice It works again") && $0.contains("Erasures wait") }
            }
            #expect(log.lines.filter { $0.hasPrefix("warning Erasures wait") }.count == 1)
        }
    }

    @Test func `the metrics page shows the backlog`() async throws {
        try await TestServer.with(application: "deletion: { gracePeriod: 0s }") { server in
            let client = APIClient(server)
            try await server.withoutScheduler {
                _ = try await client.deleteAccount(try await client.register(at: server))
                try await eventually("it is shown", within: .seconds(20)) {
                    try await client.send(.GET, "/metrics").text.contains("erasures_due 1")
                }
                try await server.age("accounts", "purge_after", by: "2 days", where: "purge_after IS NOT NULL")
                let backlog = try await BacklogTable(database: server.backend.database).look()
                #expect((172_800...173_400).contains(backlog.oldestDue))
            }
            try await eventually("it is gone", within: .seconds(20)) {
                try await client.send(.GET, "/metrics").text.contains("erasures_due 0")
            }
        }
    }
}
