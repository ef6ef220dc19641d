/// Runs statements: either a `Database`, each in its own transaction, or a `Transaction`.
package protocol Executor: Sendable {
    func execute(_ statement: Statement, _ binds: [Bind]) async throws(PostgresError) -> Rows
}

extension Executor {
    package func execute(_ statement: Statement, _ binds: Bind...) async throws(PostgresError) -> Rows {
        try await execute(statement, binds)
    }

    package func first(_ statement: Statement, _ binds: [Bind]) async throws(PostgresError) -> Row? {
        try await execute(statement, binds).first
    }

    /// The first row of the answer; nil when it is empty.
    package func first(_ statement: Statement, _ binds: Bind...) async throws(PostgresError) -> Row? {
        try await execute(statement, binds).first
    }
}
