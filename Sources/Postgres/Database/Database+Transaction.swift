extension Database {
    /// Runs `body` between BEGIN and COMMIT on a connection of its own, and rolls back when it throws or is cancelled.
    ///
    /// A COMMIT whose answer was lost is `.connectionLost(maybeExecuted: true)`; any other lost connection undid the
    /// transaction. No network I/O in `body`: it holds one of few connections, and locks.
    package func transaction<Value>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Transaction) async throws -> Value
    ) async throws -> Value {
        let waiter = Waiter<Lease>(deadline: .now + Nanoseconds(configuration.leaseTimeout))
        try inbox.admit(.lease(waiter), limit: configuration.queueLimit)
        let lease = try await waiter.promise.value()
        let deadline = configuration.transactionStatementTimeout + .seconds(1)
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
