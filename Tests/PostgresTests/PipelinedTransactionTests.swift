import GatehouseTesting
import Testing

@testable import Postgres

/// Statements of a transaction that are sent without waiting for the answers of earlier ones.
@Suite struct PipelinedTransactionTests {
    private func withTable(
        configure: (inout Database.Configuration) -> Void = { $0.transactions = 1 },
        _ body: (Database) async throws -> Void
    ) async throws {
        try await withDatabase(configure: configure) { database in
            _ = try await database.execute(.makeTable)
            try await body(database)
        }
    }

    private func count(_ database: Database) async throws -> Int { try await database.value(.count) }

    @Test func theServerRunsStatementsInTheOrderInWhichTheyAreSent() async throws {
        try await withTable { database in
            // The second round finds the statements prepared, and therefore sends one batch.
            for round in 0..<2 {
                let counts: [Int] = try await database.transaction { transaction in
                    var answers: [PendingAnswer] = []
                    for number in 0..<20 {
                        _ = try transaction.send(.insert, [.int(100 * round + number)])
                        answers.append(try transaction.send(.count, []))
                    }
                    var counts: [Int] = []
                    for answer in answers { counts.append(try #require(try await answer.rows().first).value()) }
                    return counts
                }
                #expect(counts == (1...20).map { 20 * round + $0 })
            }
        }
    }

    @Test func statementsThatAreSentTogetherTakeOneRoundTrip() async throws {
        try await withTable { database in
            let before = database.statistics.roundTrips
            try await database.transaction { transaction in
                for number in 0..<5 { _ = try transaction.send(.insert, [.int(number)]) }
                _ = try await transaction.execute(.count)
            }
            // The batch and COMMIT.
            #expect(database.statistics.roundTrips == before + 2)
            let seen = try await count(database)
            #expect(seen == 5)
        }
    }

    @Test func statementsAreKeptUntilAnAnswerIsAwaited() throws {
        let (inbox, lease) = (Inbox(), Lease(slot: 0))
        let transaction = Transaction(lease: lease, inbox: inbox, deadline: .seconds(1))
        let answers = try (0..<3).map { try transaction.send(.insert, [.int($0)]) }
        #expect(inbox.drain().isEmpty)
        #expect(lease.send(to: inbox))
        let sent = inbox.drain().compactMap { if case .submit(let request) = $0 { request } else { nil } }
        #expect(sent.map(ObjectIdentifier.init) == answers.map { ObjectIdentifier($0.request) })
        #expect(!lease.send(to: inbox), "each is sent once")
        #expect(inbox.drain().isEmpty)
    }

    @Test func statementsOfAClosedClientFail() async throws {
        let inbox = Inbox()
        let transaction = Transaction(lease: Lease(slot: 0), inbox: inbox, deadline: .seconds(1))
        let answers = try (0..<2).map { try transaction.send(.insert, [.int($0)]) }
        _ = inbox.close()
        for answer in answers { #expect(await thrown { try await answer.rows() } == .stopped) }
        #expect(await thrown { try await transaction.commit() } == .stopped)
        await transaction.rollback()
    }

    @Test(arguments: [false, true])
    func afterAnErrorInTheMiddleNothingIsCommitted(isPrepared: Bool) async throws {
        try await withTable { database in
            if isPrepared {
                try await database.transaction { transaction in
                    _ = try transaction.send(.unique, [.int(-1)])
                    _ = try await transaction.execute(.count)
                }
            }
            let before = try await count(database)
            let error = await thrown {
                try await database.transaction { transaction in
                    let answers = try [1, 1, 2].map { try transaction.send(.unique, [.int($0)]) }
                    let last = try transaction.send(.count, [])
                    _ = try await answers[0].rows()
                    let second = await thrown { try await answers[1].rows() }
                    #expect(second?.isUniqueViolation == true)
                    for answer in [answers[2], last] {
                        let error = await thrown { try await answer.rows() }
                        #expect(error != nil)
                    }
                }
            }
            // The closure swallowed the errors, but the COMMIT fails.
            guard case .server(let server) = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(server.sqlState == "25P02")
            let seen = try await count(database)
            #expect(seen == before)
            #expect(database.statistics.reconnects == 0)
            try await database.transaction { _ = try await $0.execute(.insert, .int(5)) }
        }
    }

    @Test func anAnswerThatIsNeverAwaitedStillPreventsTheCommit() async throws {
        try await withTable { database in
            let error = await thrown {
                try await database.transaction { transaction in
                    _ = try await transaction.execute(.insert, .int(1))
                    _ = try transaction.send(.failing, [.int(0)])
                }
            }
            #expect(error != nil)
            let seen = try await count(database)
            #expect(seen == 0)
        }
    }

    @Test func theDeadlineAppliesToTheWholeBatch() async throws {
        let configure = { (configuration: inout Database.Configuration) in
            configuration.transactions = 1
            // Far longer than one sleep, so that it is the batch that is late, not a statement.
            configuration.transactionStatementTimeout = .seconds(1)
        }
        try await withTable(configure: configure) { database in
            let start = ContinuousClock.now
            let error = await thrown {
                try await database.transaction { transaction in
                    for _ in 0..<100 { _ = try transaction.send(.sleep, [.double(0.05)]) }
                    _ = try await transaction.execute(.count)
                }
            }
            #expect(error == .deadlineExceeded)
            #expect(ContinuousClock.now - start < .seconds(10))
            let seen: Int = try await database.transaction { try await $0.value(.count) }
            #expect(seen == 0)
        }
    }

    @Test func aLostConnectionFailsEveryAnswerAndCommitsNothing() async throws {
        try await withTable { database in
            let error = await thrown {
                try await database.transaction { transaction in
                    let backend: Int = try await transaction.value(.backend)
                    let insert = try transaction.send(.insert, [.int(1)])
                    let sleep = try transaction.send(.sleep, [.double(5)])
                    let last = try transaction.send(.insert, [.int(2)])
                    // The first wait sends all three.
                    async let first = thrown { try await insert.rows() }
                    try await eventually { (try await database.value(.sleepers) as Int) == 1 }
                    _ = try await database.execute(.terminate, .int(backend))
                    _ = await first
                    let interrupted = await thrown { try await sleep.rows() }
                    #expect(interrupted != nil)
                    #expect(await thrown { try await last.rows() } == .connectionLost(maybeExecuted: false))
                }
            }
            #expect(error == .connectionLost(maybeExecuted: false))
            let seen = try await count(database)
            #expect(seen == 0)
        }
    }
}

extension Statement {
    fileprivate static let makeTable = Self(.write, "CREATE TABLE numbers (n int8 UNIQUE)")
    fileprivate static let insert = Self(.write, "INSERT INTO numbers VALUES ($1)")
    fileprivate static let unique = Self(.write, "INSERT INTO numbers VALUES ($1) RETURNING n")
    fileprivate static let count = Self(.read, "SELECT count(*) FROM numbers")
    fileprivate static let sleepers = Self(
        .read,
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep' AND query LIKE 'SELECT pg_sleep%'
        """)
    fileprivate static let terminate = Self(.write, "SELECT pg_terminate_backend($1::int8::int4)")
}
