internal import Administration
internal import Postgres

extension SQLStore: BoundedTransactions {
    /// Reset by PostgreSQL when the transaction ends.
    private static let limitStatements = Statement(
        .write, "SELECT set_config('statement_timeout', $1, true)")

    package func transaction<Output: Sendable>(
        within limit: Duration, _ body: @Sendable (SQLStore) async throws -> Output
    ) async throws -> Output {
        try await transaction(statementLimit: limit) { store in
            let milliseconds = limit / .milliseconds(1)
            try await store.write(Self.limitStatements, [.text("\(Int(milliseconds))ms")])
            return try await body(store)
        }
    }
}
