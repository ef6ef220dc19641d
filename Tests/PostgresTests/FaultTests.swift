import GatehouseServer
import GatehouseTesting
import Postgres
import Synchronization
import Testing

/// Tests that the server stops and returns while many callers are busy.
@Suite struct FaultTests {
    /// The results of the calls of a load.
    private struct Tally {
        var acknowledged: Set<Int> = []
        var uncertain: Set<Int> = []
        var failures = 0
        var slowest = Duration.zero
    }

    /// Callers that write ascending numbers until they are stopped.
    ///
    /// Each call is answered exactly once.
    private final class Load: Sendable {
        private let next = Atomic(0)
        private let isOver = Atomic(false)

        func end() {
            isOver.store(true, ordering: .relaxed)
        }

        func run(on database: Database, callers: Int) async -> Tally {
            await withTaskGroup(of: Tally.self) { group in
                for _ in 0..<callers { group.addTask { await self.call(database) } }
                return await group.reduce(into: Tally()) { total, tally in
                    total.acknowledged.formUnion(tally.acknowledged)
                    total.uncertain.formUnion(tally.uncertain)
                    total.failures += tally.failures
                    total.slowest = max(total.slowest, tally.slowest)
                }
            }
        }

        private func call(_ database: Database) async -> Tally {
            var tally = Tally()
            while !isOver.load(ordering: .relaxed) {
                let number = next.add(1, ordering: .relaxed).newValue
                let start = ContinuousClock.now
                do throws(PostgresError) {
                    _ = try await database.execute(.insert, .int(number))
                    tally.acknowledged.insert(number)
                } catch {
                    tally.failures += 1
                    if error == .connectionLost(maybeExecuted: true) { tally.uncertain.insert(number) }
                    // A caller that is refused at once must not spin.
                    try? await Task.sleep(for: .milliseconds(5))
                }
                tally.slowest = max(tally.slowest, ContinuousClock.now - start)
            }
            return tally
        }
    }

    private func numbers(in database: Database) async throws -> Set<Int> {
        Set(try await database.execute(.numbers).map { try $0.value(Int.self) })
    }

    @Test func connectionsTerminatedUnderLoad() async throws {
        try await withDatabase { database in
            _ = try await database.execute(.makeTable)
            let load = Load()
            let tally = Task { await load.run(on: database, callers: 32) }
            for _ in 0..<10 {
                // One of its own victims, so its answer may be lost.
                _ = try? await database.execute(.terminateAll)
                try await Task.sleep(for: .milliseconds(100))
            }
            load.end()
            let result = await tally.value
            try await eventually { database.statistics.isReachable }
            let present = try await numbers(in: database)
            #expect(result.acknowledged.isSubset(of: present))
            #expect(present.isSubset(of: result.acknowledged.union(result.uncertain)))
            #expect(!result.acknowledged.isEmpty)
            #expect(!result.uncertain.isEmpty)
            #expect(database.statistics.reconnects > 0)
            #expect(database.statistics.waiting == 0)
        }
    }

    @Test func readsSurviveATerminatedConnection() async throws {
        try await withDatabase { database in
            try await database.ready(within: .seconds(5))
            let reads = Task {
                try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<20 { group.addTask { try await database.value(.sleep, .double(0.2)) } }
                    return try await group.reduce(into: 0) { count, _ in count += 1 }
                }
            }
            try await eventually { database.statistics.inFlight > 10 }
            try await withDatabase(url: database.configuration.url) { _ = try await $0.execute(.terminateOne) }
            #expect(try await reads.value == 20)
        }
    }

    @Test func theServerKilledUnderLoadAndRestarted() async throws {
        let cluster = TemporaryPostgres.cluster(durable: true)
        try await cluster.start()
        try await withDatabase(url: cluster.url) { database in
            _ = try await database.execute(.makeTable)
            let load = Load()
            let tally = Task { await load.run(on: database, callers: 32) }
            try await eventually { try await numbers(in: database).count > 200 }

            await cluster.crash()
            try await eventually { !database.statistics.isReachable }
            // Once the loss is known, callers fail at once.
            try await eventually { await thrown { try await database.execute(.one) } != nil }
            try await Task.sleep(for: .seconds(1.2))
            let start = ContinuousClock.now
            guard case .unavailable(let reason) = await thrown(by: { try await database.execute(.one) }) else {
                Issue.record("available without a server")
                return
            }
            // Far below the deadline, at which any call fails.
            #expect(ContinuousClock.now - start < .seconds(3))
            #expect(!reason.contains("\n"))

            try await cluster.start()
            let returned = ContinuousClock.now
            try await eventually { await thrown { try await database.execute(.one) } == nil }
            #expect(ContinuousClock.now - returned < .seconds(10))

            let before = try await numbers(in: database).count
            try await eventually { try await numbers(in: database).count > before }
            load.end()
            let result = await tally.value
            let present = try await numbers(in: database)
            #expect(result.acknowledged.isSubset(of: present))
            #expect(present.isSubset(of: result.acknowledged.union(result.uncertain)))
            #expect(result.slowest < .seconds(10))
        }
        await cluster.stop()
    }

    @Test func aHungServerIsGivenUp() async throws {
        let cluster = TemporaryPostgres.cluster()
        try await cluster.start()
        let configure = { (configuration: inout Database.Configuration) in
            configuration.pipelined = 1
            configuration.statementTimeout = .seconds(1)
            configuration.deadline = .seconds(30)
        }
        try await withDatabase(url: cluster.url, configure: configure) { database in
            let backend: Int = try await database.value(.backend)
            try signal("STOP", to: backend)
            // The read is sent again on the next connection.
            let again: Int = try await database.value(.backend)
            #expect(again != backend)
            try signal("KILL", to: backend)
        }
        await cluster.stop()
    }

    @Test func theSecondHostServesWhenTheFirstIsDead() async throws {
        let url = try await TemporaryPostgres.database()
        let dead = url.replacing("?host=", with: "?host=/nowhere,")
        try await withDatabase(url: dead) { database in
            try await database.ready(within: .seconds(5))
            let one: Int32 = try await database.value(.one)
            #expect(one == 1)
        }
    }

    @Test func anUnreachableServerIsNamedOnOneLine() async throws {
        try await withDatabase(url: "host=/nowhere,/nowhere2 user=u") { database in
            let error = await thrown { try await database.ready(within: .seconds(2)) }
            guard case .unavailable(let reason) = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(reason.contains("/nowhere/.s.PGSQL.5432"))
            #expect(reason.contains("/nowhere2/.s.PGSQL.5432"))
            #expect(!reason.contains("\n"))
            #expect(await thrown { try await database.transaction { _ in } } == .unavailable(reason))
        }
    }

    @Test func aMalformedURLIsRefusedWithoutQuotingIt() async throws {
        try await withDatabase(url: "postgresql://u:secret@host:pa55/db?x=y") { database in
            let error = await thrown { try await database.ready(within: .seconds(1)) }
            guard case .invalidConfiguration(let reason) = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(!reason.contains("pa55") && !reason.contains("secret"))
        }
    }
}

extension Statement {
    fileprivate static let makeTable = Self(.write, "CREATE TABLE numbers (n int8 PRIMARY KEY)")
    fileprivate static let insert = Self(.write, "INSERT INTO numbers VALUES ($1)")
    fileprivate static let numbers = Self(.read, "SELECT n FROM numbers")
    fileprivate static let terminateAll = Self(
        .write,
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() ORDER BY pid = pg_backend_pid()
        """)
    fileprivate static let terminateOne = Self(
        .write,
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep%' LIMIT 1
        """)
}
