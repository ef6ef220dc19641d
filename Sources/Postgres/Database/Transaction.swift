/// A transaction under way.
///
/// It is worth nothing outside the closure it was given to.
package struct Transaction: Executor {
    let lease: Lease
    let inbox: Inbox
    let deadline: Duration

    /// Runs one statement.
    ///
    /// After one has failed the server refuses all others, so let the error leave the closure.
    package func execute(_ statement: Statement, _ binds: [Bind]) async throws(PostgresError) -> Rows {
        try await run(.statement(statement, try Arguments(binds)), until: .now + Nanoseconds(deadline))
    }

    /// Runs several statements as plain text, without a deadline.
    ///
    /// For migrations; never for text with values in it.
    package func script(_ sql: String) async throws(PostgresError) {
        guard !sql.utf8.contains(0) else { throw .encoding(Bind.nulFault) }
        _ = try await run(.script(sql), until: .never)
    }

    private func run(_ work: Request.Work, until deadline: Nanoseconds) async throws(PostgresError) -> Rows {
        let request = Request(work, lease: lease, deadline: deadline)
        guard inbox.post(.submit(request)) else { throw .stopped }
        return try await request.promise.value { inbox.post(.interrupt(request)) }
    }

    /// Not to be cancelled: whether it happened must be known.
    func commit() async throws(PostgresError) {
        let request = Request(.commit, lease: lease, deadline: .now + Nanoseconds(deadline))
        guard inbox.post(.submit(request)) else { throw .stopped }
        let answer = try await request.promise.shieldedValue()
        // PostgreSQL answers COMMIT of a failed transaction with success, and "ROLLBACK" as what it did
        guard answer.tag != "ROLLBACK" else {
            throw .server(ServerError(sqlState: "25P02", message: "rolled back, because a statement had failed"))
        }
    }

    /// Waits for the server unless the task is cancelled: then the reactor finishes alone.
    func rollback() async {
        let request = Request(.rollback, lease: lease, deadline: .now + Nanoseconds(deadline))
        guard inbox.post(.submit(request)), !Task.isCancelled else { return }
        _ = try? await request.promise.value()
    }
}
