import Accounts
import Foundation
import GatehouseTesting
import Migrations
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// `gatehouse purge` delivers the events of its own erasures and leaves all others to the servers.
struct PurgeDeliveryTests {
    /// Runs the body with a server that delivers nothing and a command that has the webhook in its configuration.
    private func with(
        _ sink: WebhookSink, _ body: @Sendable @escaping (TestServer, ServerFile, ProcessDirectory) async throws -> Void
    ) async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database) { server in
            try await ProcessDirectory.with { directory in
                var file = ServerFile(database: database)
                file.delivery = """
                    webhooks: [\(sink.entry("account.deleted", "account.erased", "identity.linked"))]
                    """
                try await body(server, file, directory)
            }
        }
    }

    private func queue(
        _ kind: String, of person: Person, age: String = "1 minute", for sink: WebhookSink, at server: TestServer
    ) async throws {
        try await server.execute(
            """
            INSERT INTO webhook_deliveries (application_id, event_id, webhook, name, kind, uid, created_at, details)
            SELECT a.application_id, gen_random_uuid(), $2::text, 'archive', $3::text, a.uid,
                   now() - $5::text::interval, jsonb_build_object('receipt', e.receipt)
              FROM accounts a
              LEFT JOIN erasures e ON e.application_id = a.application_id AND e.uid = a.uid
             WHERE a.application_id = $1 AND a.uid = $4
            """,
            [
                .application(try await server.application().id), .text(sink.url), .text(kind),
                .uuid(UUID(uuidString: person.uid)), .text(age),
            ])
    }

    @Test(arguments: [true, false]) func `events of others are neither leased nor sent`(isNow: Bool) async throws {
        try await WebhookSink.with { sink in
            try await with(sink) { server, file, directory in
                let client = APIClient(server)
                let (person, other) = (try await client.register(at: server), try await client.guest())
                try await client.deleteAccount(person)
                try await queue("account.deleted", of: person, for: sink, at: server)
                for _ in 1...8 { try await queue("identity.linked", of: other, for: sink, at: server) }
                let purged = try await server.withoutScheduler {
                    if !isNow { try await server.makeDue() }
                    return try await file.run(["purge"] + (isNow ? ["--now", person.uid] : []), in: directory)
                }
                #expect((purged.status, purged.output) == (0, "erased \(person.uid)\n"), "\(purged.errorLines)")
                #expect(sink.posts.map(\.kind).sorted() == ["account.deleted", "account.erased"])
                let touched = try await server.count(
                    "SELECT count(*) FROM webhook_deliveries WHERE kind = 'identity.linked' AND (attempts > 0 OR leased_until IS NOT NULL)"
                )
                #expect(touched == 0)
                let leased = try await server.count(
                    "SELECT count(*) FROM webhook_deliveries WHERE leased_until IS NOT NULL")
                #expect(leased == 0, "nothing waits for the lease of a command that is over")
            }
        }
    }

    @Test func `a stopped command finishes the events that it leased`() async throws {
        try await WebhookSink.with { _, _ in
            .hang
        } _: { sink in
            try await with(sink) { server, file, directory in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                try await client.deleteAccount(person)
                try await queue("account.deleted", of: person, for: sink, at: server)
                try directory.write(file.text, to: "gatehouse.yaml")
                try await server.withoutScheduler {
                    let arguments = ["purge", "--now", person.uid, "--config", "gatehouse.yaml"]
                    try await GatehouseProcess.with(arguments, in: directory) { process in
                        try await eventually("it delivers") { !sink.posts.isEmpty }
                        process.signal(SIGTERM)
                        sink.release()
                        #expect(try await process.end() == 1)
                        #expect(
                            process.errorLines == ["gatehouse: stopped by a signal; run the command again to go on"])
                    }
                }
                let acknowledged = try await server.count(
                    "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL")
                #expect(acknowledged == 1)
            }
        }
    }

    @Test func `what was given up for a webhook that is no longer configured stays given up`() async throws {
        try await WebhookSink.with { sink in
            try await with(sink) { server, file, directory in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                try await client.deleteAccount(person)
                try await queue("account.deleted", of: person, for: sink, at: server)
                try await server.execute(
                    """
                    UPDATE webhook_deliveries
                       SET webhook = 'https://gone.example/hooks', failed_at = now(), failure = 'not-configured'
                    """)
                let purged = try await file.run(["purge"], in: directory)
                #expect((purged.status, purged.output) == (0, ""), "\(purged.errorLines)")
                let givenUp = try await server.count(
                    "SELECT count(*) FROM webhook_deliveries WHERE failed_at IS NOT NULL")
                #expect(givenUp == 1)
            }
        }
    }

    @Test func `a delivery that is given up adds no line to the refusal`() async throws {
        try await WebhookSink.with { _, _ in
            .status(500)
        } _: { sink in
            try await with(sink) { server, file, directory in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                try await client.deleteAccount(person)
                try await queue("account.deleted", of: person, age: "97 hours", for: sink, at: server)
                let refused = try await server.withoutScheduler {
                    try await file.run(["purge", "--now", person.uid], in: directory)
                }
                #expect((refused.status, refused.output) == (1, ""))
                let line = "gatehouse: account \(person.uid) is not erased yet, not acknowledged by: archive"
                #expect(refused.errorLines == [line])
            }
        }
    }
}
