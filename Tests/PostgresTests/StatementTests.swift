import GatehouseTesting
import Postgres
import Testing

/// Tests single statements on pipelined connections: each caller gets its own result before its deadline, or an error.
@Suite struct StatementTests {
    @Test func anErrorInABatchIsItsOwnCallersAlone() async throws {
        try await withDatabase(configure: { $0.pipelined = 1 }) { database in
            try await database.ready(within: .seconds(5))
            // While the connection is busy, the other statements wait and are then sent as one batch.
            async let busy: String = database.value(.sleep, .double(0.1))
            let outcomes = try await withThrowingTaskGroup(of: (Int, Result<Int, PostgresError>).self) { group in
                for number in 0..<50 {
                    group.addTask {
                        do throws(PostgresError) {
                            guard var row = try await database.first(.inverse, .int(number)) else {
                                return (number, .success(-1))
                            }
                            return (number, .success(try row.next()))
                        } catch {
                            return (number, .failure(error))
                        }
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            _ = try await busy
            for (number, outcome) in outcomes {
                switch outcome {
                case .success(let answer): #expect(number != 0 && answer == 1000 / number)
                case .failure(.server(let error)): #expect(number == 0 && error.sqlState == "22012")
                case .failure(let error): Issue.record("\(number): \(error)")
                }
            }
            #expect(outcomes.count == 50)
        }
    }

    @Test func noStatementIsCompiled() async throws {
        try await withDatabase { database in
            let setting = Statement(.read, "SELECT current_setting('jit')")
            let alone: String = try await database.value(setting)
            let inTransaction: String = try await database.transaction { try await $0.value(setting) }
            #expect(alone == "off" && inTransaction == "off")
        }
    }

    // Where tables are distributed, PostgreSQL chooses between plans by itself, because Citus needs the values.
    @Test(.disabled("needs a server that is not distributed") { try await TemporaryPostgres.isDistributed })
    func aStatementWithAnArrayIsPlannedOnce() async throws {
        try await withDatabase(configure: { $0.pipelined = 1 }) { database in
            for count in 0..<10 {
                _ = try await database.execute(.tablesOfNames, .texts((0..<count).map(String.init)))
            }
            var row = try #require(try await database.first(.plansOfTables))
            let (custom, generic): (Int, Int) = (try row.next(), try row.next())
            #expect(custom == 0 && generic == 10)
        }
    }

    @Test func waitsAreCountedByTheirLength() async throws {
        try await withDatabase { database in
            try await database.ready(within: .seconds(5))
            let before = database.waits
            let _: String = try await database.value(.sleep, .double(0.15))
            let new = zip(database.waits, before).map(-)
            #expect(new.reduce(0, +) == 1)
            let class100Milliseconds = 20
            #expect(new.dropFirst(class100Milliseconds).reduce(0, +) == 1, "\(new)")
        }
    }

    @Test func anErrorIsDescribedWithoutValues() async throws {
        try await withDatabase { database in
            _ = try await database.execute(.makePeople)
            _ = try await database.execute(.insertPerson, .text("secret@example.org"))
            let error = await thrown { try await database.execute(.insertPerson, .text("secret@example.org")) }
            #expect(error?.isUniqueViolation == true)
            #expect(error?.isRetryable == false)
            #expect(error?.description.contains("secret") == false)
            #expect(error?.description.contains("people_email_key") == true)
            #expect(error?.debugDescription.contains("secret@example.org") == true)
        }
    }

    @Test func aSyntaxErrorIsTheCallersOwn() async throws {
        try await withDatabase(configure: { $0.pipelined = 1 }) { database in
            for _ in 0..<2 {
                async let good: Int32 = database.value(.one)
                let error = await thrown { try await database.execute(.nonsense) }
                guard case .server(let server) = error else {
                    Issue.record("unexpected \(String(describing: error))")
                    return
                }
                #expect(server.sqlState == "42601")
                let one = try await good
                #expect(one == 1)
            }
        }
    }

    @Test func cancellationFreesTheCallerAtOnce() async throws {
        let configure = { (configuration: inout Database.Configuration) in
            configuration.pipelined = 1
            configuration.deadline = .seconds(30)
            configuration.statementTimeout = .seconds(20)
        }
        try await withDatabase(configure: configure) { database in
            try await database.ready(within: .seconds(5))
            let task = Task { try await database.execute(.sleep, .double(6)) }
            try await eventually { database.statistics.inFlight == 1 }
            let queued = Task { try await database.execute(.one) }
            let start = ContinuousClock.now
            task.cancel()
            queued.cancel()
            #expect(await thrown { try await task.value } == .cancelled)
            #expect(await thrown { try await queued.value } == .cancelled)
            #expect(ContinuousClock.now - start < .seconds(5))
            // The connection can be used again after the server has ended the cancelled statement.
            let one: Int32 = try await database.value(.one)
            #expect(one == 1)
        }
    }

    @Test func theDeadlineFreesTheCaller() async throws {
        let configure = { (configuration: inout Database.Configuration) in
            configuration.pipelined = 1
            configuration.deadline = .milliseconds(300)
            configuration.statementTimeout = .seconds(20)
        }
        try await withDatabase(configure: configure) { database in
            try await database.ready(within: .seconds(5))
            let start = ContinuousClock.now
            #expect(await thrown { try await database.execute(.sleep, .double(10)) } == .deadlineExceeded)
            #expect((.milliseconds(290) ... .seconds(5)).contains(ContinuousClock.now - start))
        }
    }

    @Test func theServerEndsASlowStatementAndThoseBehindItGetAnswers() async throws {
        let configure = { (configuration: inout Database.Configuration) in
            configuration.pipelined = 1
            configuration.statementTimeout = .milliseconds(300)
        }
        try await withDatabase(configure: configure) { database in
            try await database.ready(within: .seconds(5))
            let slow = Task { try await database.execute(.sleep, .double(60)) }
            try await eventually { database.statistics.inFlight == 1 }
            let one: Int32 = try await database.value(.one)
            #expect(one == 1)
            guard case .server(let error) = await thrown(by: { try await slow.value }) else {
                Issue.record("no server error")
                return
            }
            #expect(error.sqlState == "57014")
        }
    }

    @Test func aFullQueueRefuses() async throws {
        let configure = { (configuration: inout Database.Configuration) in
            configuration.pipelined = 1
            configuration.queueLimit = 10
        }
        try await withDatabase(url: "host=192.0.2.1 connect_timeout=2", configure: configure) { database in
            let outcomes = await withTaskGroup(of: PostgresError?.self) { group in
                for _ in 0..<30 { group.addTask { await thrown { try await database.execute(.one) } } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == .overloaded } == 20)
        }
    }

    @Test func aChangedResultTypeIsPreparedAnew() async throws {
        try await withDatabase(configure: { $0.pipelined = 1 }) { database in
            _ = try await database.execute(.makePeople)
            #expect(try await database.execute(.allPeople).isEmpty)
            _ = try await database.execute(.alterPeople)
            _ = try await database.execute(.insertPerson, .text("a@example.org"))
            let rows = try await database.execute(.allPeople)
            #expect(rows.count == 1)
        }
    }

    @Test func aForgottenStatementIsPreparedAnew() async throws {
        try await withDatabase(configure: { $0.pipelined = 1 }) { database in
            let first: Int32 = try await database.value(.one)
            _ = try await database.execute(.deallocate)
            let second: Int32 = try await database.value(.one)
            #expect([first, second] == [1, 1])
        }
    }

    @Test func readinessMayBeAskedAgain() async throws {
        try await withDatabase { database in
            try await database.ready(within: .seconds(5))
            try await database.ready(within: .milliseconds(500))
            #expect(database.statistics.isReachable)
            #expect(database.statistics.connections > 0)
        }
    }

    @Test func stoppingAnswersWhatIsUnderWayAndRefusesTheRest() async throws {
        try await withDatabase { database in
            try await database.ready(within: .seconds(5))
            let running = Task { try await database.execute(.sleep, .double(0.2)) }
            try await eventually { database.statistics.inFlight == 1 }
            await database.stop()
            #expect(try await running.value.count == 1)
            #expect(await thrown { try await database.execute(.one) } == .unavailable("the client is stopped"))
            #expect(await thrown { try await database.transaction { _ in } } == .unavailable("the client is stopped"))
        }
    }
}

extension Statement {
    fileprivate static let inverse = Self(.read, "SELECT 1000 / $1::int8")
    fileprivate static let nonsense = Self(.read, "SELEKT 1")
    fileprivate static let makePeople = Self(.write, "CREATE TABLE people (id serial, email text UNIQUE)")
    fileprivate static let alterPeople = Self(.write, "ALTER TABLE people ADD COLUMN name text")
    fileprivate static let insertPerson = Self(.write, "INSERT INTO people (email) VALUES ($1)")
    fileprivate static let allPeople = Self(.read, "SELECT * FROM people")
    fileprivate static let deallocate = Self(.write, "DEALLOCATE ALL")
    fileprivate static let tablesOfNames = Self(
        .read, "SELECT c.relname::text FROM unnest($1::text[]) AS n (name) JOIN pg_class c ON c.relname = n.name::name")
    fileprivate static let plansOfTables = Self(
        .read,
        "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE 'SELECT c.relname%'")
}
