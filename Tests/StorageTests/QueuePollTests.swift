import Accounts
import Foundation
import GatehouseTesting
import Logging
import Migrations
import Postgres
import ProviderKit
import Testing

@testable import Storage

/// A poll of a queue asks only the applications that have something due.
struct QueuePollTests {
    private static let webhook = "https://hooks.example/"

    /// The queues of a database with a hundred applications, without a server that empties them.
    private struct Queues {
        let database: Database
        let store: SQLStore
        let messages: OutboxTable
        let deliveries: WebhookDeliveriesTable
        let revocations: TokenRevocationsTable

        init(_ database: Database) {
            self.database = database
            store = SQLStore(
                database: database, sealing: NoSealing(), subscriptions: NoSubscriptions(),
                revocations: RevocationList(database: database, channel: ReplicaChannel(database: database)) { .zero })
            messages = OutboxTable(database: database, sealing: NoSealing(), arrivals: AsyncStream { _ in })
            deliveries = WebhookDeliveriesTable(database: database, arrivals: AsyncStream { _ in })
            revocations = TokenRevocationsTable(
                database: database, sealing: NoSealing(), arrivals: AsyncStream { _ in })
        }

        func takeMessages() async throws -> [Application.ID] {
            try await messages.take([.email: 8, .sms: 8], lease: .seconds(60)).map(\.application)
        }

        func takeDeliveries(_ places: Int = 4) async throws -> [TakenDelivery] {
            try await deliveries.take([webhook: places, webhook + "other": 4], lease: .seconds(60))
        }

        func takeRevocations() async throws -> [Application.ID] {
            try await revocations.take([.all: 4], lease: .seconds(60)).map(\.application)
        }

        func takeErasures() async throws -> [Application.ID] {
            let all = (1...100).map { Application.ID(rawValue: $0) }
            return try await store.takeErasures(of: all, atMost: 50, lease: .seconds(60)).map(\.application)
        }

        func failures() async throws -> [String] {
            try await database.execute(.failures).decoded { try $0.next() }
        }

        func giveUp(allBut webhooks: [String] = []) async throws -> Int {
            try await deliveries.giveUp(allBut: webhooks, overdue: .seconds(330), reason: "not-configured")
        }

        /// Expects the result of the body and how many statements it sends.
        func expect<Output: Equatable>(
            _ result: Output, statements: Int, sourceLocation: SourceLocation = #_sourceLocation,
            _ body: () async throws -> Output
        ) async throws {
            let before = database.statistics.roundTrips
            let actual = try await body()
            #expect(actual == result, sourceLocation: sourceLocation)
            #expect(database.statistics.roundTrips - before == statements, sourceLocation: sourceLocation)
        }

        /// Adds deliveries of the application, each a minute older than the one before.
        func announce(_ count: Int, of application: Application.ID) async throws {
            _ = try await database.execute(.announce, [.application(application), .text(webhook), .int(count)])
        }
    }

    private func withQueues(_ body: (Queues) async throws -> Void) async throws {
        try await TemporaryPostgres.withDatabase(migrations: Migrations.all) { url in
            let database = Database(Database.Configuration(url: url), logger: Logger(label: "test"))
            database.start()
            do {
                _ = try await database.execute(.addApplications)
                try await body(Queues(database))
                await database.stop()
            } catch {
                await database.stop()
                throw error
            }
        }
    }

    @Test func `with nothing due a poll sends one statement, however many applications there are`() async throws {
        try await withQueues { queues in
            try await queues.expect([], statements: 1) { try await queues.takeMessages() }
            try await queues.expect(0, statements: 1) { try await queues.takeDeliveries().count }
            try await queues.expect([], statements: 1) { try await queues.takeRevocations() }
            try await queues.expect([], statements: 1) { try await queues.takeErasures() }
            try await queues.expect(0, statements: 1) { try await queues.giveUp() }
        }
    }

    @Test func `with one application due a poll sends one more statement`() async throws {
        try await withQueues { queues in
            let address = try #require(EmailAddress("ada@example.com"))
            let before = queues.database.statistics.roundTrips
            try await queues.store.enqueue([Message(.signInCode, to: .email(address))], about: nil, application: 42)
            // The store notifies the workers a little later, by a statement that must not be counted below.
            while queues.database.statistics.roundTrips < before + 2 { try await Task.sleep(for: .milliseconds(5)) }
            try await queues.announce(3, of: 43)
            _ = try await queues.database.execute(.addRevocation)
            _ = try await queues.database.execute(.addErasure)
            try await queues.expect(0, statements: 1) { try await queues.giveUp() }
            try await queues.expect([42], statements: 2) { try await queues.takeMessages() }
            try await queues.expect([43, 43, 43], statements: 2) {
                try await queues.takeDeliveries().map(\.application)
            }
            try await queues.expect([44], statements: 2) { try await queues.takeRevocations() }
            try await queues.expect([45], statements: 2) { try await queues.takeErasures() }
            // All are leased now.
            try await queues.expect([], statements: 1) { try await queues.takeMessages() }
            try await queues.expect(0, statements: 1) { try await queues.takeDeliveries().count }
            try await queues.expect([], statements: 1) { try await queues.takeRevocations() }
            try await queues.expect([], statements: 1) { try await queues.takeErasures() }
        }
    }

    @Test func `only applications with overdue deliveries are asked to give up`() async throws {
        try await withQueues { queues in
            try await queues.announce(7, of: 43)
            try await queues.expect(2, statements: 2) { try await queues.giveUp() }
        }
    }

    @Test func `deliveries to webhooks of the configuration are kept, in any order of these`() async throws {
        try await withQueues { queues in
            try await queues.announce(7, of: 43)
            let (before, after) = ("https://a.example/", "https://z.example/")
            for webhooks in [[Self.webhook], [after, Self.webhook, before], [Self.webhook, before]] {
                try await queues.expect(0, statements: 1) { try await queues.giveUp(allBut: webhooks) }
            }
            try await queues.expect(2, statements: 2) { try await queues.giveUp(allBut: [after, before]) }
        }
    }

    @Test func `each application's entries are taken by age`() async throws {
        try await withQueues { queues in
            try await queues.announce(5, of: 43)
            var ages: [String] = []
            for _ in 1...5 { ages += try await queues.takeDeliveries(1).compactMap { $0.details["age"]?.string } }
            #expect(ages == ["5", "4", "3", "2", "1"])
        }
    }

    @Test func `the applications of a long queue are not read at each poll`() async throws {
        var statements: [Int] = []
        // The list of applications is remembered for a second, so on a slow machine this is tried again.
        for _ in 1...10 where statements != [3, 2] {
            try await withQueues { queues in
                try await queues.announce(4, of: 43)
                try await queues.announce(4, of: 99)
                statements = []
                for _ in 1...2 {
                    let before = queues.database.statistics.roundTrips
                    #expect(try await queues.takeDeliveries(2).count == 2)
                    statements.append(queues.database.statistics.roundTrips - before)
                }
            }
        }
        #expect(statements == [3, 2])
    }

    @Test func `an application whose turn fails does not keep the others waiting`() async throws {
        try await withQueues { queues in
            try await queues.announce(1, of: 43)
            try await queues.announce(2, of: 99)
            _ = try await queues.database.execute(.failFirst)
            #expect(try await queues.takeDeliveries().map(\.application) == [99, 99])
            await #expect(throws: (any Error).self) { try await queues.takeDeliveries() }
        }
    }

    @Test func `new entries are found when the known applications have no more`() async throws {
        try await withQueues { queues in
            try await queues.announce(2, of: 43)
            #expect(try await queues.takeDeliveries(2).map(\.application) == [43, 43])
            try await queues.announce(1, of: 99)
            #expect(try await queues.takeDeliveries(2).map(\.application) == [99])
        }
    }

    @Test func `a message of a later version waits for a server of that version, for a day`() async throws {
        try await withQueues { queues in
            _ = try await queues.database.execute(.addUnknownMessages)
            #expect(try await queues.takeMessages() == [])
            let failures = try await queues.database.execute(.messageFailures).decoded { row in
                let (topic, failure, isGivenUp, isPutOff): (String, String, Bool, Bool) = (
                    try row.next(), try row.next(), try row.next(), try row.next()
                )
                return "\(topic) \(failure) \(isGivenUp) \(isPutOff)"
            }
            #expect(failures == ["new unknown-content false true", "old unknown-content true false"])
        }
    }

    @Test func `a worker whose lease has ended does not fail what another one has taken`() async throws {
        try await withQueues { queues in
            try await queues.announce(1, of: 42)
            _ = try await queues.database.execute(.addRevocation)
            let late = try #require(try await queues.takeDeliveries().first)
            let lateRevocation = try #require(try await queues.revocations.take([.all: 1], lease: .seconds(60)).first)
            for lease in [Statement.endDeliveries, .endRevocations] { _ = try await queues.database.execute(lease) }
            let delivery = try #require(try await queues.takeDeliveries().first)
            let revocation = try #require(try await queues.revocations.take([.all: 1], lease: .seconds(60)).first)
            try await queues.deliveries.markFailed(late, reason: "late", retryAfter: nil)
            try await queues.revocations.markFailed(lateRevocation, reason: "late", retryAfter: nil)
            #expect(try await queues.failures() == [])
            try await queues.deliveries.markFailed(delivery, reason: "refused", retryAfter: nil)
            try await queues.revocations.markFailed(revocation, reason: "refused", retryAfter: nil)
            #expect(try await queues.failures() == ["refused", "refused"])
        }
    }
}

private struct NoSealing: Sealing {
    func seal(_ plaintext: [UInt8], at place: SealingPlace) -> [UInt8] { plaintext }
    func open(_ sealed: [UInt8], at place: SealingPlace) -> [UInt8] { sealed }
    func mark(of text: String) -> [UInt8] { [] }
}

extension Statement {
    fileprivate static let addApplications = Self(
        .write, "INSERT INTO applications (name) SELECT 'app' || n FROM generate_series(1, 100) AS n")
    fileprivate static let announce = Self(
        .write,
        """
        INSERT INTO webhook_deliveries (application_id, event_id, webhook, name, kind, uid, details, due_at)
        SELECT $1, gen_random_uuid(), $2, 'name', 'account.created', gen_random_uuid(),
               jsonb_build_object('age', n::text), now() - n * interval '1 minute'
          FROM generate_series(1, $3::int8) AS n
        """)
    fileprivate static let failFirst = Self(
        .write, "ALTER TABLE webhook_deliveries ADD CHECK (application_id <> 43 OR attempts = 0)")
    fileprivate static let addRevocation = Self(
        .write,
        """
        INSERT INTO token_revocations (application_id, identity_id, provider, uid, sealed)
        VALUES (44, gen_random_uuid(), 'any', gen_random_uuid(), '{}')
        """)
    fileprivate static let endDeliveries = Self(.write, "UPDATE webhook_deliveries SET due_at = now()")
    fileprivate static let endRevocations = Self(.write, "UPDATE token_revocations SET due_at = now()")
    fileprivate static let failures = Self(
        .read,
        """
        SELECT failure FROM webhook_deliveries WHERE failed_at IS NOT NULL
        UNION ALL
        SELECT failure FROM token_revocations WHERE failed_at IS NOT NULL
        """)
    fileprivate static let addUnknownMessages = Self(
        .write,
        """
        INSERT INTO outbox (application_id, id, topic, sealed, created_at)
        SELECT 42, id, topic, convert_to(
                   json_build_object('id', id, 'topic', 'ofLaterVersion', 'to', 'ada@example.com')::text,
                   'UTF8'), created_at
          FROM (VALUES (gen_random_uuid(), 'new', now() - interval '23 hours'),
                       (gen_random_uuid(), 'old', now() - interval '25 hours')) AS message (id, topic, created_at)
        """)
    fileprivate static let messageFailures = Self(
        .read,
        """
        SELECT topic, failure, failed_at IS NOT NULL, due_at > now() AND leased_until IS NULL
          FROM outbox
         ORDER BY topic
        """)
    fileprivate static let addErasure = Self(
        .write,
        """
        INSERT INTO erasures (application_id, receipt, uid, purge_after)
        VALUES (45, gen_random_uuid(), gen_random_uuid(), now() - interval '1 minute')
        """)
}
