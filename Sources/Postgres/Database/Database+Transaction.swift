extension Database {
    /// Runs `body` between BEGIN and COMMIT on its own connection, and rolls back if `body` throws or is cancelled.
    ///
    /// If the answer to COMMIT is lost, throws `.connectionLost(maybeExecuted: true)`; in any other case, a lost
    /// connection has undone the transaction. `body` must not do other network I/O, because the transaction holds locks
    /// and one of few connections.
    ///
    /// `limit` is how long a statement may take if that is longer than configured; the caller sets the server's own
    /// limit, too.
    package func transaction<Value>(
        statementLimit limit: Duration? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (Transaction) async throws -> Value
    ) async throws -> Value {
        let waiter = Waiter<Lease>(deadline: .now + Nanoseconds(configuration.leaseTimeout))
        try inbox.admit(.lease(waiter), limit: configuration.queueLimit)
        let lease = try await waiter.promise.value()
        let timeout = max(configuration.transactionStatementTimeout, limit ?? .zero)
        lease.permit(timeout)
        let deadline = timeout + .seconds(1)
        let transaction = Transaction(lease: lease, inbox: inbox, deadline: deadline)
        let value: Value
        do {
            value = try await body(transaction)
            guard !Task.isCancelled else { throw PostgresError.cancelled }
        } catch {
            await transaction.rollback()
            throw error
        }
        try await transaction.commit()
        return value
    }
}
