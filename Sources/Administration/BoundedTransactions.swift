internal import Accounts

/// Runs reads and acts of administrators under a time limit of their own.
package protocol BoundedTransactions: Sendable {
    /// Runs the body in a transaction whose statements may each take at most `limit`.
    ///
    /// - Throws: `AccountsError.unavailable` if a statement takes longer.
    func transaction<Output: Sendable>(
        within limit: Duration, _ body: @Sendable (Self) async throws -> Output
    ) async throws -> Output
}

extension BoundedTransactions {
    /// Works as `transaction(within:)`, and repeats the body, with all reads that it depends on, after a
    /// `StoreConflict`.
    package func retryingTransaction<Output: Sendable>(
        within limit: Duration, _ body: @Sendable (Self) async throws -> Output
    ) async throws -> Output {
        try await retryingOnConflict { try await transaction(within: limit, body) }
    }
}

extension Duration {
    /// How long a statement of an administrator may take.
    package static let administration: Duration = .seconds(5)
}
