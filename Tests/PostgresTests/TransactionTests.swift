import GatehouseTesting
import Postgres
import Testing

@Suite struct TransactionTests {
    private struct Unwelcome: Error {}

    private func withTable(
        configure: (inout Database.Configuration) -> Void = { _ in }, _ body: (Database) async throws -> Void
    ) async throws {
        try await withDatabase(configure: configure) { database in
            _ = try await database.execute(.makeTable)
            try await body(database)
        }
    }

    @Test func aTransactionIsCommitted() async throws {
        try await withTable { database in
            let sum: Int = try await database.transaction { transaction in
                _ = try await transaction.execute(.insert, .int(1))
                _ = try await transaction.execute(.insert, .int(2))
                return try await transaction.value(.sum)
            }
            #expect(sum == 3)
            let seen: Int = try await database.value(.sum)
            #expect(seen == 3)
        }
    }

    @Test func aThrownErrorRollsBack() async throws {
        try await withTable(configure: { $0.transactions = 1 }) { database in
            await #expect(throws: Unwelcome.self) {
                try await database.transaction { transaction in
                    _ = try await transaction.execute(.insert, .int(1))
                    throw Unwelcome()
                }
            }
            let seen: Int = try await database.value(.sum)
            #expect(seen == 0)
            try await database.transaction { _ = try await $0.execute(.insert, .int(5)) }
        }
    }

    @Test func anErrorThatIsSwallowedStillFailsTheCommit() async throws {
        try await withTable { database in
            let error = await thrown {
                try await database.transaction { transaction in
                    _ = try await transaction.execute(.insert, .int(1))
                    _ = try? await transaction.execute(.failing, .int(0))
                }
            }
            guard case .server(let server) = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(server.sqlState == "25P02")
        }
    }

    @Test(arguments: [false, true])
    func cancellationRollsBackAndInterruptsTheServer(isPipelined: Bool) async throws {
        let configure = { (configuration: inout Database.Configuration) in
            configuration.transactions = 1
            configuration.transactionStatementTimeout = .seconds(60)
        }
        try await withTable(configure: configure) { database in
            let task = Task {
                try await database.transaction { transaction in
                    if isPipelined {
                        _ = try transaction.send(.insert, [.int(1)])
                        let sleep = try transaction.send(.sleep, [.double(50)])
                        _ = try transaction.send(.insert, [.int(2)])
                        _ = try await sleep.rows()
                    } else {
                        _ = try await transaction.execute(.insert, .int(1))
                        _ = try await transaction.execute(.sleep, .double(50))
                    }
                }
            }
            try await eventually { (try await database.value(.sleepers) as Int) == 1 }
            let start = ContinuousClock.now
            task.cancel()
            #expect(await thrown { try await task.value } == .cancelled)
            // The only connection for transactions is free again long before the sleep would have ended.
            let sum: Int = try await database.transaction { try await $0.value(.sum) }
            #expect(sum == 0)
            #expect(ContinuousClock.now - start < .seconds(20))
            #expect(database.statistics.reconnects == 0)
        }
    }

    @Test func aTransactionMayHaveALongerLimit() async throws {
        let configure = { (configuration: inout Database.Configuration) in
            configuration.transactions = 1
            configuration.transactionStatementTimeout = .milliseconds(300)
        }
        try await withTable(configure: configure) { database in
            // Longer than the usual limit, and than a silent connection is kept.
            let pid: Int = try await database.transaction(statementLimit: .seconds(60)) { transaction in
                _ = try await transaction.execute(
                    Statement(.write, "SELECT set_config('statement_timeout', '60s', true)"), [])
                _ = try await transaction.execute(.sleep, .double(3))
                return try await transaction.value(.backend)
            }
            // The limit holds for that transaction only.
            let error = await thrown {
                try await database.transaction { _ = try await $0.execute(.sleep, .double(30)) }
            }
            #expect(error != nil && pid > 0)
            #expect(database.statistics.reconnects == 0)
        }
    }

    @Test func aCancelledTaskDoesNotCommit() async throws {
        try await withTable { database in
            let task = Task {
                try await database.transaction { transaction in
                    _ = try await transaction.execute(.insert, .int(1))
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            #expect(await thrown { try await task.value } == .cancelled)
            let sum: Int = try await database.value(.sum)
            #expect(sum == 0)
        }
    }

    @Test func anExhaustedPoolMakesWaitAndThenRefuses() async throws {
        let configure = { (configuration: inout Database.Configuration) in
            configuration.transactions = 1
            configuration.leaseTimeout = .milliseconds(300)
        }
        try await withTable(configure: configure) { database in
            try await database.transaction { transaction in
                _ = try await transaction.execute(.one)
                let start = ContinuousClock.now
                #expect(await thrown { try await database.transaction { _ in } } == .overloaded)
                #expect(ContinuousClock.now - start >= .milliseconds(290))
            }
            try await database.transaction { _ = try await $0.execute(.one) }
        }
    }

    @Test func manyMoreTransactionsThanConnectionsAllSucceed() async throws {
        try await withTable { database in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...100 {
                    group.addTask {
                        try await database.transaction { _ = try await $0.execute(.insert, .int(number)) }
                    }
                }
                try await group.waitForAll()
            }
            let sum: Int = try await database.value(.sum)
            #expect(sum == 5050)
        }
    }

    @Test func lockWaitsDoNotBlockSingleStatements() async throws {
        try await withTable(configure: { $0.lockTimeout = .seconds(3) }) { database in
            _ = try await database.execute(.insert, .int(1))
            try await database.transaction { holder in
                _ = try await holder.execute(.lockAll)
                let waiting = Task { try await database.transaction { _ = try await $0.execute(.lockAll) } }
                try await eventually { (try await database.value(.lockWaiters) as Int) == 1 }
                let one: Int32 = try await database.value(.one)
                #expect(one == 1)
                let error = await thrown { try await waiting.value }
                #expect(error?.isRetryable == true)
            }
        }
    }

    @Test func statementsOfOneTransactionMayRunConcurrently() async throws {
        try await withTable { database in
            let answers: [Int] = try await database.transaction { transaction in
                async let first: Int = transaction.value(.echo, .int(1))
                async let second: Int = transaction.value(.echo, .int(2))
                return try await [first, second]
            }
            #expect(answers == [1, 2])
        }
    }

    @Test func aLostConnectionEndsTheTransaction() async throws {
        try await withTable(configure: { $0.transactions = 1 }) { database in
            let error = await thrown {
                try await database.transaction { transaction in
                    _ = try await transaction.execute(.insert, .int(1))
                    let backend: Int = try await transaction.value(.backend)
                    _ = try await database.execute(.terminate, .int(backend))
                    _ = try? await transaction.execute(.one)
                }
            }
            // COMMIT was never sent, so it is certain that nothing happened
            #expect(error == .connectionLost(maybeExecuted: false))
            let sum: Int = try await database.transaction { try await $0.value(.sum) }
            #expect(sum == 0)
        }
    }

    @Test func aCommitWithoutAnswerMayHaveHappened() async throws {
        try await withTable(configure: { $0.transactions = 1 }) { database in
            // A deferred trigger makes COMMIT slow.
            try await database.transaction { try await $0.script(slowCommit) }
            let task = Task { try await database.transaction { _ = try await $0.execute(.insert, .int(1)) } }
            try await eventually { (try await database.value(.committers) as Int) == 1 }
            _ = try await database.execute(.terminateCommitters)
            #expect(await thrown { try await task.value } == .connectionLost(maybeExecuted: true))
        }
    }

    private let slowCommit = """
        CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON numbers DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION dawdle();
        """
}

extension Statement {
    fileprivate static let makeTable = Self(.write, "CREATE TABLE numbers (n int8 NOT NULL)")
    fileprivate static let insert = Self(.write, "INSERT INTO numbers VALUES ($1)")
    fileprivate static let sum = Self(.read, "SELECT coalesce(sum(n), 0)::int8 FROM numbers")
    fileprivate static let echo = Self(.read, "SELECT $1::int8")
    fileprivate static let lockAll = Self(.write, "SELECT n FROM numbers FOR UPDATE")
    fileprivate static let sleepers = Self(
        .read,
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep' AND query LIKE 'SELECT pg_sleep%'
        """)
    fileprivate static let lockWaiters = Self(
        .read, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
    fileprivate static let committers = Self(
        .read,
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'COMMIT' AND state = 'active'"
    )
    fileprivate static let terminateCommitters = Self(
        .write,
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query = 'COMMIT' AND state = 'active'
        """)
    fileprivate static let terminate = Self(.write, "SELECT pg_terminate_backend($1::int8::int4)")
}
