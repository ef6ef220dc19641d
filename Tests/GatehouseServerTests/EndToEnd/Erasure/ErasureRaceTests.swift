import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// One erasure that several workers process concurrently.
struct ErasureRaceTests {
    @Test func `two replicas and a slow webhook cause one erasure with one event`() async throws {
        try await ProcessDirectory.with { directory in
            let application = "deletion: { ledger: \"\(directory.path("ledger"))\" }"
            try await WebhookSink.with { post, _ in
                post.kind == "account.deleted" ? .hang : .status(204)
            } _: { sink in
                let hooks = "[\(sink.entry("account.deleted", "account.erased"))]"
                try await TestServer.with(application: application, webhooks: hooks) { first in
                    try await TestServer.with(
                        database: first.databaseURL, application: application, webhooks: hooks
                    ) { second in
                        let client = APIClient(first)
                        // A guest needs no mail, which either of the two servers might deliver to its own inbox.
                        let person = try await client.guest()
                        let location = try await client.deleteAccount(person)
                        try await eventually("the webhook thinks about it") { !sink.posts.isEmpty }
                        try await first.makeDue()
                        // Both schedulers process the erasure, and the test advances it on both servers as well.
                        try await eventually("it has begun") {
                            try await first.count("SELECT count(*) FROM erasures WHERE began_at IS NOT NULL") == 1
                        }
                        for server in [first, second] {
                            guard case .waiting = try await server.advance(person.uid) else {
                                Issue.record("it did not wait")
                                return
                            }
                        }
                        #expect(sink.posts(of: "account.erased").isEmpty)
                        sink.release()
                        try await eventually("it is acknowledged") {
                            try await client.erasure(location)["processors"].array?.first?["status"] == "acknowledged"
                        }
                        let runs = try await withThrowingTaskGroup(of: Erasure.Progress?.self) { group in
                            for run in 1...16 {
                                group.addTask {
                                    // After the erasure the call throws, because the account no longer exists.
                                    try? await (run.isMultiple(of: 2) ? first : second).advance(person.uid)
                                }
                            }
                            return try await group.reduce(into: []) { $0.append($1) }
                        }
                        try await eventually("it is erased") {
                            try await client.erasure(location)["status"] == "erased"
                        }
                        // Every call that returns reports the account as erased.
                        #expect(runs.allSatisfy { $0 == nil || $0 == .erased(without: []) }, "\(runs)")
                        try await eventually("it is told") { !sink.posts(of: "account.erased").isEmpty }
                        try await eventually("and that is acknowledged") {
                            try await first.count(
                                "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NULL") == 0
                        }
                        #expect(sink.posts(of: "account.erased").count == 1)
                        #expect(
                            try await first.count(
                                "SELECT count(*) FROM webhook_deliveries WHERE kind = 'account.erased'") == 1)
                        #expect(try await first.count("SELECT count(*) FROM erasures") == 1)
                        let lines = try String(contentsOfFile: directory.path("ledger"), encoding: .utf8)
                        #expect(lines.split(separator: "\n").allSatisfy { $0.contains(person.uid) })
                    }
                }
            }
        }
    }

    @Test func `one replica at a time leases due erasures`() async throws {
        try await TestServer.with(application: "deletion: { gracePeriod: 1h }") { server in
            let client = APIClient(server)
            for _ in 1...6 { try await client.deleteAccount(try await client.guest()) }
            let application = try await server.application().id
            try await server.withoutScheduler {
                try await server.makeDue()
                let none = try await server.backend.store.takeErasures(
                    of: [application], atMost: 4, lease: .seconds(30))
                #expect(none == [])
                // The server's own scheduler has not taken one either.
                #expect(try await server.count("SELECT count(*) FROM erasures WHERE look_again_at IS NOT NULL") == 0)
            }
            try await eventually("they are taken once it is free") {
                try await server.count("SELECT count(*) FROM accounts") == 0
            }
        }
    }
}
