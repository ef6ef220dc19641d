/// A transaction in progress, which must not be used outside the closure that it was passed to.
package struct Transaction: Executor {
    let lease: Lease
    let inbox: Inbox
    let deadline: Duration

    /// After a statement has failed, the server refuses all others in the transaction, so let the error leave the
    /// closure.
    package func execute(_ statement: Statement, _ binds: [Bind]) async throws(PostgresError) -> Rows {
        try await run(.statement(statement, try Arguments(binds)), until: .now + Nanoseconds(deadline))
    }

    /// Runs several statements as plain text without a deadline: for migrations only, never for text with values.
    package func script(_ sql: String) async throws(PostgresError) {
        guard !sql.utf8.contains(0) else { throw .encoding(Bind.nulFault) }
        _ = try await run(.script(sql), until: .never)
    }

    private func run(_ work: Request.Work, until deadline: Nanoseconds) async throws(PostgresError) -> Rows {
        let request = Request(work, lease: lease, deadline: deadline)
        guard inbox.post(.submit(request)) else { throw .stopped }
        return try await request.promise.value { inbox.post(.interrupt(request)) }
    }

    /// Commits even if the calling task is cancelled, because the outcome must be known.
    func commit() async throws(PostgresError) {
        let request = Request(.commit, lease: lease, deadline: .now + Nanoseconds(deadline))
        guard inbox.post(.submit(request)) else { throw .stopped }
        let answer = try await request.promise.shieldedValue()
        // PostgreSQL reports success for the COMMIT of a failed transaction, with the command tag ROLLBACK
        guard answer.tag != "ROLLBACK" else {
            throw .server(ServerError(sqlState: "25P02", message: "rolled back, because a statement had failed"))
        }
    }

    /// Rolls back and waits for the server; if the task is cancelled, returns while the reactor completes the rollback.
    func rollback() async {
        let request = Request(.rollback, lease: lease, deadline: .now + Nanoseconds(deadline))
        guard inbox.post(.submit(request)), !Task.isCancelled else { return }
        _ = try? await request.promise.value()
    }
}
