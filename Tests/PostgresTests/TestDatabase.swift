import GatehouseTesting
import Glibc
import Logging
import Postgres
import Testing

/// Runs `body` with a started client of a new database, and stops the client afterwards.
func withDatabase<Value>(
    url: String? = nil,
    configure: (inout Database.Configuration) -> Void = { _ in },
    _ body: (Database) async throws -> Value
) async throws -> Value {
    guard let url else {
        return try await TemporaryPostgres.withDatabase { url in
            try await withDatabase(url: url, configure: configure, body)
        }
    }
    var configuration = Database.Configuration(url: url)
    configuration.leaseTimeout = .seconds(30)
    configure(&configuration)
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let database = Database(configuration, logger: logger)
    database.start()
    do {
        let value = try await body(database)
        await database.stop()
        return value
    } catch {
        await database.stop()
        throw error
    }
}

/// Checks `condition` every few milliseconds until it holds, for states that only the server can report.
func eventually(
    within limit: Duration = .seconds(30), sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("the condition did not come true in time", sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(5))
    }
}

extension Statement {
    static let one = Self(.read, "SELECT 1")
    static let sleep = Self(.read, "SELECT pg_sleep($1)::text")
    static let backend = Self(.read, "SELECT pg_backend_pid()")
    static let failing = Self(.read, "SELECT 1 / $1::int8")
}

extension Row {
    /// Returns the value of the only column.
    func value<Value: PostgresDecodable>(_ type: Value.Type = Value.self) throws -> Value {
        var row = self
        return try row.next()
    }
}

extension Executor {
    /// Returns the value of the only column of the only row.
    func value<Value: PostgresDecodable>(_ statement: Statement, _ binds: Bind...) async throws -> Value {
        try #require(try await first(statement, binds)).value()
    }
}

/// Returns the error that `body` throws, for a comparison.
func thrown<Value>(by body: () async throws -> Value) async -> PostgresError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? PostgresError
    }
}

/// Sends a signal to a server process, to stop, continue or kill it.
func signal(_ name: String, to process: Int) throws {
    let numbers = ["STOP": SIGSTOP, "CONT": SIGCONT, "KILL": SIGKILL]
    let number = try #require(numbers[name])
    try #require(kill(pid_t(process), number) == 0)
}
