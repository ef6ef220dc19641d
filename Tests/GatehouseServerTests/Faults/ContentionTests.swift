import Foundation
import GatehouseTesting
import Migrations
import Testing

@testable import GatehouseServer

/// Random concurrent changes to the same accounts cause no deadlock and no server error.
struct ContentionTests {
    private static let calls = isLongMode ? 100_000 : 10_000
    private static let clients = 12

    @Test func `thousands of random calls on few accounts cause no deadlock and no server error`() async throws {
        let environment = ProcessInfo.processInfo.environment["GATEHOUSE_HISTORY_SEED"]
        let seed = environment.flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
        print("contention of seed \(seed): \(Self.calls) calls")
        try await Self.withCluster { database, log in
            try await TestServer.with(
                database: database, application: "recentAuthentication: 1d\n" + ErasedTraces.application,
                providers: "scripted: {}"
            ) { server in
                let client = APIClient(server)
                let board = ContentionBoard()
                for address in ContentionClient.addresses {
                    board.remember(try await client.register(at: server, email: address))
                }
                try await withThrowingTaskGroup { group in
                    for number in 0..<Self.clients {
                        group.addTask {
                            var person = ContentionClient(server, board: board, seed: seed &* 1000 &+ UInt64(number))
                            for _ in 0..<Self.calls / Self.clients { try await person.step() }
                        }
                    }
                    try await group.waitForAll()
                }
                let answers = board.answers
                for (answer, count) in answers.sorted(by: { $0.key < $1.key }) { print("  \(answer): \(count)") }
                let failures = answers.filter { $0.key.contains(#/ 5[0-9]{2}/#) }
                #expect(failures.isEmpty, "seed \(seed): \(failures)")
                // `verifyAddress` is excluded: a reset usually ends a change of address before it is verified.
                for call in ContentionClient.Call.allCases where call != .verifyAddress {
                    #expect(answers.keys.contains { $0.hasPrefix("\(call) 20") }, "\(call) never succeeded")
                }
            }
            let deadlocks = try String(contentsOfFile: log, encoding: .utf8).matches(
                of: /deadlock detected[\s\S]{0,1500}/)
            #expect(deadlocks.isEmpty, "seed \(seed): \(deadlocks.count), \(deadlocks.prefix(2).map(\.output))")
        }
    }

    /// Runs the body against a private PostgreSQL server that checks for deadlocks after a short wait.
    private static func withCluster(_ body: (_ database: String, _ log: String) async throws -> Void) async throws {
        var options = PrivateCluster.Options()
        options.durable = false
        options.ephemeral = true
        options.settings = ["deadlock_timeout": "50ms", "max_connections": "50", "shared_buffers": "32MB"]
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        let cluster = PrivateCluster(directory: "/tmp/gatehouse-\(name)", options: options)
        try await cluster.start()
        do {
            try await body(cluster.url, cluster.paths.log)
            await cluster.stop()
        } catch {
            await cluster.stop()
            throw error
        }
    }
}
