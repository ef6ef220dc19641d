import GatehouseServer
import GatehouseTesting
import Postgres
import Testing

/// A write is acknowledged only if its commit is.
///
/// A deferred trigger raises what the server sends during a commit: after the answer of a single statement, and before
/// the answer of COMMIT.
@Suite(.serialized) struct DoubtfulCommitTests {
    private func withTable(_ raised: Statement, _ body: (Database) async throws -> Void) async throws {
        try await withDatabase(configure: { $0.pipelined = 1 }) { database in
            _ = try await database.execute(.makeTable)
            _ = try await database.execute(raised)
            _ = try await database.execute(.makeTrigger)
            try await body(database)
        }
    }

    private func inTransaction(_ database: Database, _ number: Int) async throws {
        try await database.transaction { _ = try await $0.execute(.insert, .int(number)) }
    }

    @Test func `a warning of Citus that a worker has not committed makes the outcome uncertain`() async throws {
        try await withTable(.warnAsCitus) { database in
            let lost = PostgresError.connectionLost(maybeExecuted: true)
            #expect(await thrown { try await database.execute(.insert, .int(-1)) } == lost)
            #expect(await thrown { try await database.execute(.insertReturning, .int(-2)) } == lost)
            #expect(await thrown { try await inTransaction(database, -3) } == lost)
            // The warning concerns one commit only, and the connection is kept.
            #expect(await thrown { try await database.execute(.insert, .int(1)) } == nil)
            #expect(await thrown { try await inTransaction(database, 2) } == nil)
            #expect(database.statistics.reconnects == 0)
        }
    }

    @Test func `a warning concerns none of the writes beside it`() async throws {
        try await withTable(.warnAsCitus) { database in
            let lost = await withTaskGroup(of: Int?.self) { group in
                for number in -20...20 where number != 0 {
                    group.addTask {
                        await thrown { try await database.execute(.insert, .int(number)) } == nil ? nil : number
                    }
                }
                return await group.reduce(into: Set<Int>()) { lost, number in number.map { _ = lost.insert($0) } }
            }
            #expect(lost == Set(-20 ... -1))
        }
    }

    @Test func `other warnings are ignored, also if the role hides them`() async throws {
        try await withTable(.warnOtherwise) { database in
            #expect(await thrown { try await database.execute(.insert, .int(-1)) } == nil)
            #expect(await thrown { try await inTransaction(database, -2) } == nil)
        }
        try await withTable(.warnAsCitus) { database in
            _ = try await database.execute(.hideWarnings)
            try await withDatabase(url: database.configuration.url) { database in
                #expect(await thrown { try await database.execute(.insert, .int(-1)) } != nil)
            }
        }
    }

    @Test func `a write whose commit fails is not acknowledged`() async throws {
        try await withTable(.refuse) { database in
            func isRefusal(_ error: PostgresError?) -> Bool {
                if case .server(let error) = error { error.message == "refused at the commit" } else { false }
            }
            #expect(isRefusal(await thrown { try await database.execute(.insert, .int(-1)) }))
            #expect(isRefusal(await thrown { try await database.execute(.insertReturning, .int(-2)) }))
            #expect(isRefusal(await thrown { try await inTransaction(database, -3) }))
            #expect(await thrown { try await database.execute(.insert, .int(1)) } == nil)
            let numbers = try await database.execute(.numbers).map { try $0.value(Int.self) }
            #expect(numbers == [1])
            #expect(database.statistics.reconnects == 0)
        }
    }

    @Test func `a commit that fails concerns none of the statements beside it`() async throws {
        try await withTable(.refuse) { database in
            _ = try await database.execute(.insert, .int(0))
            let failures = await withTaskGroup(of: Int?.self) { group in
                for number in -40...40 where number != 0 {
                    group.addTask {
                        let error = await thrown {
                            // Batches of reads are between the writes.
                            number > 0 && number.isMultiple(of: 2)
                                ? try await database.execute(.one) : try await database.execute(.insert, .int(number))
                        }
                        return error == nil ? nil : number
                    }
                }
                return await group.reduce(into: Set<Int>()) { failures, number in
                    if let number { failures.insert(number) }
                }
            }
            #expect(failures == Set(-40 ... -1))
            let numbers = try await database.execute(.numbers).map { try $0.value(Int.self) }
            #expect(Set(numbers) == Set((0...40).filter { $0 == 0 || !$0.isMultiple(of: 2) }))
            #expect(database.statistics.reconnects == 0)
        }
    }

    @Test func `an error of Citus after the warning leaves the outcome uncertain too`() async throws {
        try await withTable(.warnAndRefuse) { database in
            let lost = PostgresError.connectionLost(maybeExecuted: true)
            #expect(await thrown { try await database.execute(.insert, .int(-1)) } == lost)
            #expect(await thrown { try await inTransaction(database, -2) } == lost)
            #expect(await thrown { try await inTransaction(database, 1) } == nil)
        }
    }

    @Test func `a commit that stops waiting for the synchronous standby is uncertain`() async throws {
        let cluster = TemporaryPostgres.cluster(durable: true)
        try await cluster.start()
        try await withDatabase(url: cluster.url) { database in
            _ = try await database.execute(.makeTable)
            _ = try await database.execute(.requireStandby)
            _ = try await database.execute(.reload)
            let cancelling = Task {
                // A cancellation that comes late meets the next statement of its connection, which may be this one.
                while !Task.isCancelled { _ = try? await database.execute(.cancelWaiting) }
            }
            // The setting takes effect some time after the reload.
            var number = 0
            try await eventually {
                number += 1
                return await thrown { try await database.execute(.insert, .int(number)) }
                    == .connectionLost(maybeExecuted: true)
            }
            cancelling.cancel()
        }
        await cluster.stop()
    }
}

extension Statement {
    fileprivate static let makeTable = Self(.write, "CREATE TABLE numbers (n int8 PRIMARY KEY)")
    fileprivate static let insert = Self(.write, "INSERT INTO numbers VALUES ($1)")
    fileprivate static let insertReturning = Self(.write, "INSERT INTO numbers VALUES ($1) RETURNING n")
    fileprivate static let numbers = Self(.read, "SELECT n FROM numbers")
    fileprivate static let warnAsCitus = Self(
        .write,
        """
        CREATE FUNCTION raised() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN RAISE WARNING ''failed to commit transaction on worker:5432''; RETURN NULL; END'
        """)
    fileprivate static let warnOtherwise = Self(
        .write,
        """
        CREATE FUNCTION raised() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN RAISE WARNING ''anything else''; RETURN NULL; END'
        """)
    fileprivate static let refuse = Self(
        .write,
        """
        CREATE FUNCTION raised() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN RAISE EXCEPTION ''refused at the commit''; END'
        """)
    fileprivate static let warnAndRefuse = Self(
        .write,
        """
        CREATE FUNCTION raised() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN
                RAISE WARNING ''failed to commit transaction on worker:5432'';
                RAISE EXCEPTION ''could not commit transaction for shard 1 on at least one active node'';
             END'
        """)
    fileprivate static let makeTrigger = Self(
        .write,
        """
        CREATE CONSTRAINT TRIGGER raising AFTER INSERT ON numbers DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (NEW.n < 0) EXECUTE FUNCTION raised()
        """)
    fileprivate static let hideWarnings = Self(
        .write,
        """
        DO 'BEGIN EXECUTE format(''ALTER DATABASE %I SET client_min_messages = error'', current_database()); END'
        """)
    fileprivate static let requireStandby = Self(.write, "ALTER SYSTEM SET synchronous_standby_names = 'none'")
    fileprivate static let reload = Self(.write, "SELECT pg_reload_conf()")
    fileprivate static let cancelWaiting = Self(
        .read,
        "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
}
