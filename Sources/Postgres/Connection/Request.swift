/// A unit of work for the reactor.
final class Request: @unchecked Sendable {
    enum Work {
        case statement(Statement, Arguments)
        case commit
        case rollback
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

    // Only the reactor's thread uses the next two properties, hence @unchecked.
    /// Sent under a sync of its own, because a neighbour's error aborted it before.
    var isAlone = false
    /// Sent again after a lost connection or a stale prepared statement, which happens at most once.
    var isRepeated = false

    init(_ work: Work, lease: Lease? = nil, deadline: Nanoseconds) {
        self.work = work
        self.lease = lease
        self.deadline = deadline
        key =
            if case .statement(let statement, let arguments) = work {
                Fingerprint(value: statement.fingerprint).adding(arguments.types).value
            } else { 0 }
    }

    var isRead: Bool {
        guard lease == nil, case .statement(let statement, _) = work else { return false }
        return statement.access == .read
    }

    /// In the simple protocol, for which the pipeline must be empty and closed.
    var isScript: Bool { if case .script = work { true } else { false } }

    var endsLease: Bool {
        switch work {
        case .commit, .rollback: true
        case .statement, .script: false
        }
    }

    /// What a lost connection means: a transaction is undone by it unless its COMMIT was under way.
    var lossError: PostgresError {
        switch work {
        case .commit: .connectionLost(maybeExecuted: true)
        case .statement: .connectionLost(maybeExecuted: lease == nil && !isRead)
        case .rollback, .script: .connectionLost(maybeExecuted: false)
        }
    }

    /// A COMMIT out of time is as uncertain as one whose connection broke.
    var lateError: PostgresError {
        if case .commit = work { .connectionLost(maybeExecuted: true) } else { .deadlineExceeded }
    }
}

/// The exclusive use of one connection, from BEGIN to the answer of COMMIT or ROLLBACK; identity matters.
final class Lease: Sendable {
    let slot: Int

    init(slot: Int) {
        self.slot = slot
    }
}

/// A caller that waits for a value until the deadline.
struct Waiter<Value: Sendable>: Sendable {
    let deadline: Nanoseconds
    let promise = Promise<Value>()

    init(deadline: Nanoseconds) {
        self.deadline = deadline
    }
}
