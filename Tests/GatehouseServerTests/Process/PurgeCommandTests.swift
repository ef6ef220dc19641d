import Accounts
import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import Postgres
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// `gatehouse purge`, with a running server and without one.
struct PurgeCommandTests {
    private struct Bench: Sendable {
        let server: TestServer
        let client: APIClient
        let file: ServerFile
        let directory: ProcessDirectory

        func purge(_ arguments: String...) async throws -> GatehouseProcess.Outcome {
            try await file.run(["purge"] + arguments, in: directory)
        }
    }

    /// Runs the body with a server; `serverWebhooks` replaces `webhooks` in its configuration, for tests in which only
    /// the command delivers.
    private func with(
        webhooks: String = "[]", serverWebhooks: String? = nil, deletion: String = "{}",
        _ body: @Sendable @escaping (Bench) async throws -> Void
    ) async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database, webhooks: serverWebhooks ?? webhooks) { server in
            try await ProcessDirectory.with { directory in
                var file = ServerFile(database: database)
                file.delivery = """
                    webhooks: \(webhooks)
                    deletion: \(deletion)
                    """
                try await body(
                    Bench(server: server, client: APIClient(server), file: file, directory: directory))
            }
        }
    }

    @Test func `only the grace period is skipped`() async throws {
        try await with { bench in
            let person = try await bench.client.register(at: bench.server)
            let live = try await bench.purge("--now", person.uid)
            #expect((live.status, live.output) == (1, ""))
            #expect(
                live.errorLines == [
                    "gatehouse: account \(person.uid) is live: only one that is being deleted can be erased"
                ])
            try await bench.server.setDisabled(true, person)
            #expect(try await bench.purge("--now", person.uid).status == 1)
            try await bench.server.setDisabled(false, person)
            let login = try await bench.client.login(person.email)
            let location = try await bench.client.deleteAccount(Person(login, email: "", password: ""))

            #expect(try await bench.purge().output == "", "it is not due")
            let dry = try await bench.purge("--now", person.uid, "--dry-run")
            #expect((dry.status, dry.output) == (0, "due \(person.uid) of demo\n"))
            #expect(try await bench.client.erasure(location)["status"] == "scheduled")
            let purged = try await bench.purge("--now", person.uid)
            #expect((purged.status, purged.output) == (0, "erased \(person.uid)\n"), "\(purged.errorLines)")
            #expect(try await bench.client.erasure(location)["status"] == "erased")
            let again = try await bench.purge("--now", person.uid)
            #expect(again.status == 1 && again.errorLines == ["gatehouse: there is no account \(person.uid)"])
        }
    }

    @Test func `an account that is also disabled is erased too`() async throws {
        try await with { bench in
            let person = try await bench.client.register(at: bench.server)
            try await bench.client.deleteAccount(person)
            try await bench.server.setDisabled(true, person)
            let purged = try await bench.purge("--now", person.uid)
            #expect((purged.status, purged.output) == (0, "erased \(person.uid)\n"), "\(purged.errorLines)")
            #expect(try await bench.server.accounts(person.uid) == 0)
        }
    }

    @Test func `idle guests are listed before they are erased`() async throws {
        try await with { bench in
            let guest = try await bench.client.guest()
            try await bench.server.letAMonthPass()
            let dry = try await bench.purge("--dry-run")
            #expect(dry.output == "due \(guest.uid) of demo, an idle guest\n", "\(dry.errorLines)")
            #expect(try await bench.server.accounts(guest.uid) == 1)
            #expect(try await bench.purge().output == "erased \(guest.uid)\n")
        }
    }

    @Test func `events that were not acknowledged before the erasure are repeated too`() async throws {
        let works = Mutex(false)
        try await WebhookSink.with { _, _ in
            works.withLock { $0 } ? .status(204) : .status(500)
        } _: { sink in
            let entry = sink.entry("account.erased")
            try await with(webhooks: "[\(entry)]") { bench in
                let person = try await bench.client.register(at: bench.server)
                try await bench.client.deleteAccount(person)
                try await bench.server.erase(person.uid)
                try await eventually("it was tried, and is put off") {
                    try await bench.server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE failure IS NOT NULL") == 1
                }
                try await bench.server.putOffDeliveries()
                let tried = sink.posts.count
                works.withLock { $0 = true }
                #expect(try await bench.purge().status == 0)
                #expect(sink.posts.count == tried + 1)
            }
        }
    }

    @Test func `a deletion that was cancelled is not posted any more`() async throws {
        let works = Mutex(false)
        try await WebhookSink.with { _, _ in
            works.withLock { $0 } ? .status(204) : .status(500)
        } _: { sink in
            let entry = sink.entry("account.deleted", "account.restored")
            try await with(webhooks: "[\(entry)]") { bench in
                let person = try await bench.client.register(at: bench.server)
                try await bench.client.deleteAccount(person)
                try await eventually("it was tried, and waits for its next attempt") {
                    try await bench.server.execute(
                        """
                        UPDATE webhook_deliveries SET due_at = now() + interval '1 hour'
                         WHERE attempts > 0 AND leased_until IS NULL
                        """)
                    return try await bench.server.count(
                        """
                        SELECT count(*) FROM webhook_deliveries
                         WHERE leased_until IS NULL AND due_at > now() + interval '30 minutes'
                        """) == 1
                }
                let tried = sink.posts.count
                works.withLock { $0 = true }
                let login = try await bench.client.login(person.email)
                let restored = try await bench.client.post(
                    "/auth/account/restore", ["restoreToken": login["error"]["details"]["restoreToken"]])
                try #require(restored.status == 200, "\(restored.text)")
                try await eventually("the restoration is acknowledged") {
                    try await bench.server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL") == 1
                }
                #expect(try await bench.purge().status == 0)
                #expect(sink.posts(of: "account.deleted").count == tried)
                let withdrawn = try await bench.server.count(
                    "SELECT count(*) FROM webhook_deliveries WHERE failed_at IS NOT NULL AND failure = 'restored'")
                #expect(withdrawn == 1)
            }
        }
    }

    @Test func `the command erases due accounts`() async throws {
        try await with { bench in
            let person = try await bench.client.register(at: bench.server)
            try await bench.client.deleteAccount(person)
            try await bench.server.withoutScheduler {
                try await bench.server.makeDue()
                let dry = try await bench.purge("--dry-run")
                #expect((dry.status, dry.output) == (0, "due \(person.uid) of demo\n"), "\(dry.errorLines)")
                let purged = try await bench.purge()
                #expect((purged.status, purged.output) == (0, "erased \(person.uid)\n"), "\(purged.errorLines)")
            }
            #expect(try await bench.server.accounts(person.uid) == 0)
        }
    }

    private static let lockAccount = Statement(
        .write, "SELECT uid FROM accounts WHERE application_id = 1 AND uid = $1 FOR UPDATE")

    @Test func `a failed erasure is named, and does not stop the others`() async throws {
        try await with { bench in
            let (held, other) = (
                try await bench.client.register(at: bench.server), try await bench.client.register(at: bench.server)
            )
            for person in [held, other] { _ = try await bench.client.deleteAccount(person) }
            try await bench.server.withoutScheduler {
                try await bench.server.makeDue()
                let purged = try await bench.server.backend.database.transaction { transaction in
                    try await transaction.script("SET LOCAL idle_in_transaction_session_timeout = 0")
                    _ = try await transaction.execute(Self.lockAccount, .uuid(UUID(uuidString: held.uid)))
                    return try await bench.purge()
                }
                #expect(purged.status == 1)
                #expect(purged.output.contains("failed \(held.uid): "), "\(purged.output)")
                #expect(purged.output.contains("erased \(other.uid)\n"), "\(purged.output)")
                #expect(purged.errorLines == ["gatehouse: 1 step(s) failed; the lines before this name them"])
            }
            #expect(try await bench.server.accounts(held.uid) == 1)
            #expect(try await bench.server.accounts(other.uid) == 0)
        }
    }

    @Test func `services that did not acknowledge are named and notified again`() async throws {
        let works = Mutex(false)
        try await WebhookSink.with { _, _ in
            works.withLock { $0 } ? .status(204) : .status(500)
        } _: { sink in
            let entry = sink.entry("account.deleted").replacing("{ ", with: "{ name: archive, ")
            try await with(webhooks: "[\(entry)]") { bench in
                let person = try await bench.client.register(at: bench.server)
                let location = try await bench.client.deleteAccount(person)
                try await eventually("it was tried") {
                    try await bench.server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE failure IS NOT NULL") == 1
                }
                // Only the command sends it again.
                try await bench.server.putOffDeliveries()
                let tried = sink.posts.count
                let refused = try await bench.purge("--now", person.uid)
                #expect((refused.status, refused.output) == (1, ""))
                #expect(
                    refused.errorLines == [
                        "gatehouse: account \(person.uid) is not erased yet, not acknowledged by: archive"
                    ])
                #expect(sink.posts.count > tried)
                #expect(try await bench.client.erasure(location)["status"] == "scheduled")
                // The grace period is over, so the person can no longer restore the account.
                let login = try await bench.client.login(person.email)
                let token = try #require(login["error"]["details"]["restoreToken"].string)
                expectError(
                    try await bench.client.post("/auth/account/restore", ["restoreToken": .string(token)]), 401,
                    "INVALID_TOKEN")
                try await bench.server.putOffDeliveries()
                let triedAgain = sink.posts.count
                works.withLock { $0 = true }
                let purged = try await bench.purge("--now", person.uid)
                #expect((purged.status, purged.output) == (0, "erased \(person.uid)\n"), "\(purged.errorLines)")
                #expect(sink.posts.count == triedAgain + 1)
                #expect(try await bench.client.erasure(location)["status"] == "erased")
            }
        }
    }

    @Test func `an unknown or malformed uid gives one line`() async throws {
        try await with { bench in
            let uid = UUID().uuidString.lowercased()
            let unknown = try await bench.purge("--now", uid)
            #expect((unknown.status, unknown.output) == (1, ""))
            #expect(unknown.errorLines == ["gatehouse: there is no account \(uid)"])
            let malformed = try await bench.purge("--now", "x")
            #expect(malformed.status == 1 && malformed.errorLines.count == 1, "\(malformed.errorLines)")
        }
    }

    @Test func `a webhook that never acknowledged is named after the deadline`() async throws {
        try await WebhookSink.with { _, _ in
            .status(500)
        } _: { sink in
            let entry = sink.entry("account.deleted").replacing("{ ", with: "{ name: archive, ")
            try await with(webhooks: "[\(entry)]") { bench in
                let person = try await bench.client.register(at: bench.server)
                try await bench.client.deleteAccount(person)
                try await eventually("it was tried") { !sink.posts.isEmpty }
                guard case .waiting = try await bench.server.erase(person.uid) else {
                    Issue.record("it did not wait")
                    return
                }
                let purged = try await bench.server.withoutScheduler {
                    try await bench.server.age("erasures", "began_at", by: "73 hours")
                    return try await bench.purge("--now", person.uid)
                }
                #expect((purged.status, purged.output) == (1, "erased \(person.uid)\n"))
                let line = "gatehouse: account \(person.uid) is erased, not acknowledged by: archive"
                #expect(purged.errorLines == [line])
            }
        }
    }
}
