/// A transaction in progress.
///
/// The server runs its statements in the order in which they are sent. It must not be used outside the closure that it
/// was passed to.
package struct Transaction: Executor {
    let lease: Lease
    let inbox: Inbox
    let deadline: Duration

    /// After a statement has failed, the server refuses all others in the transaction, so let the error leave the
    /// closure.
    package func execute(_ statement: Statement, _ binds: [Bind]) async throws(PostgresError) -> Rows {
        try await send(statement, binds).rows()
    }

    /// Adds a statement to those that are sent together at the next wait for an answer, or with COMMIT.
    ///
    /// They take one round trip. If one fails, the server skips or refuses those behind it, so await the answers in the
    /// order of the statements.
    package func send(_ statement: Statement, _ binds: [Bind]) throws(PostgresError) -> PendingAnswer {
        submit(.statement(statement, try Arguments(binds)), until: .now + Nanoseconds(deadline))
    }

    /// Runs several statements as plain text without a deadline: for migrations only, never for text with values.
    package func script(_ sql: String) async throws(PostgresError) {
        guard !sql.utf8.contains(0) else { throw .encoding(Bind.nulFault) }
        _ = try await submit(.script(sql), until: .never).rows()
    }

    private func submit(_ work: Request.Work, until deadline: Nanoseconds) -> PendingAnswer {
        let request = Request(work, lease: lease, deadline: deadline)
        lease.add(request)
        return PendingAnswer(request: request, lease: lease, inbox: inbox)
    }

    /// Commits even if the calling task is cancelled, because the outcome must be known.
    func commit() async throws(PostgresError) {
        let request = Request(.commit, lease: lease, deadline: .now + Nanoseconds(deadline))
        lease.send(request, to: inbox)
        inbox.noteRoundTrip()
        let answer = try await request.promise.shieldedValue()
        // PostgreSQL reports success for the COMMIT of a failed transaction, with the command tag ROLLBACK
        guard answer.tag != "ROLLBACK" else { throw .server(.inFailedTransaction) }
    }

    /// Rolls back and waits for the server; if the task is cancelled, returns while the reactor completes the rollback.
    func rollback() async {
        lease.dropUnsent()
        let request = Request(.rollback, lease: lease, deadline: .now + Nanoseconds(deadline))
        guard inbox.post(.submit(request)), !Task.isCancelled else { return }
        inbox.noteRoundTrip()
        _ = try? await request.promise.value()
    }
}

/// The answer to a statement of a transaction, which may not have arrived yet.
package struct PendingAnswer: Sendable {
    let request: Request
    let lease: Lease
    let inbox: Inbox

    /// Waits for the answer; if the task is cancelled, cancels the statement.
    ///
    /// Call this at most once.
    package func rows() async throws(PostgresError) -> Rows {
        // The transaction of a cancelled task is rolled back, so its statements need not run.
        guard !Task.isCancelled else {
            lease.dropUnsent()
            return try await request.promise.value { inbox.post(.interrupt(request)) }
        }
        if lease.send(to: inbox) { inbox.noteRoundTrip() }
        return try await request.promise.value { inbox.post(.interrupt(request)) }
    }
}
