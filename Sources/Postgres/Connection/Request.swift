/// Work for a connection, and the promise of its answer.
///
/// The class is `@unchecked Sendable` because only the reactor's thread uses its variables.
final class Request: @unchecked Sendable {
    enum Work {
        case statement(Statement, Arguments)
        case commit, rollback
        /// Several statements in the simple protocol, without a deadline.
        case script(String)
    }

    let work: Work
    /// The lease of the request's transaction; nil for a single statement, which any pipelined connection may run.
    let lease: Lease?
    let deadline: Nanoseconds
    /// Identifies the prepared statement: a hash of the SQL and the parameter types.
    let key: UInt64
    let promise = Promise<Rows>()

    /// Sent under its own sync, because it was aborted before by the error of another statement in its batch.
    var isAlone = false
    /// Sent again after a lost connection or a stale prepared statement, which happens at most once.
    var isRepeated = false

    init(_ work: Work, lease: Lease? = nil, deadline: Nanoseconds) {
        (self.work, self.lease, self.deadline) = (work, lease, deadline)
        key =
            if case .statement(let statement, let arguments) = work {
                Fingerprint(value: statement.fingerprint).adding(arguments.types).value
            } else { 0 }
    }

    var isRead: Bool {
        guard lease == nil, case .statement(let statement, _) = work else { return false }
        return statement.access == .read
    }

    /// Whether the request uses the simple protocol, for which the pipeline must be empty and pipeline mode off.
    var isScript: Bool { if case .script = work { true } else { false } }

    var endsLease: Bool {
        switch work {
        case .commit, .rollback: true
        case .statement, .script: false
        }
    }

    /// Whether the request's answer counts only once its commit is complete: a COMMIT, or a write of its own.
    var awaitsCommit: Bool {
        switch work {
        case .commit: true
        case .statement: lease == nil && !isRead
        case .rollback, .script: false
        }
    }

    /// The error for a lost connection, which undoes a transaction unless its COMMIT was in flight.
    var lossError: PostgresError {
        switch work {
        case .commit: .connectionLost(maybeExecuted: true)
        case .statement: .connectionLost(maybeExecuted: lease == nil && !isRead)
        case .rollback, .script: .connectionLost(maybeExecuted: false)
        }
    }

    /// After the deadline, the outcome of a COMMIT is as uncertain as after a lost connection.
    var lateError: PostgresError {
        if case .commit = work { .connectionLost(maybeExecuted: true) } else { .deadlineExceeded }
    }
}
