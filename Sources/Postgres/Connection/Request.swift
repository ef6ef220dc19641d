import Synchronization

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

/// The exclusive use of one connection, from BEGIN to the end; a class, because leases are compared by identity.
final class Lease: Sendable {
    let slot: Int
    /// The statements that the reactor does not have yet.
    ///
    /// They are kept until the caller waits for an answer, so that the reactor sends them in one batch. If each woke
    /// the reactor, most would get a sync and a packet of their own.
    private let unsent = Mutex<[Request]>([])
    private let limit = Mutex(Duration.zero)

    init(slot: Int) { self.slot = slot }

    /// How long a statement of the transaction may take, if that is longer than configured.
    var statementLimit: Duration { limit.withLock { $0 } }

    func permit(_ limit: Duration) { self.limit.withLock { $0 = limit } }

    func add(_ request: Request) { unsent.withLock { $0.append(request) } }

    /// Passes the kept statements to the reactor, and then `last`.
    ///
    /// Returns whether it passed anything, whose answers take a round trip.
    @discardableResult
    func send(_ last: Request? = nil, to inbox: Inbox) -> Bool {
        // They are posted under the lock, so that statements of concurrent callers keep their order.
        let (requests, isPosted) = unsent.withLock { unsent in
            defer { unsent = [] }
            let requests = unsent + [last].compactMap { $0 }
            return (requests, inbox.post(requests.map(Message.submit)))
        }
        if !isPosted { requests.forEach { $0.promise.fail(.stopped) } }
        return !requests.isEmpty
    }

    /// Drops the kept statements, because the transaction is rolled back.
    func dropUnsent() {
        let dropped = unsent.withLock { unsent in
            defer { unsent = [] }
            return unsent
        }
        dropped.forEach { $0.promise.fail(.cancelled) }
    }
}

/// A caller that waits for a value until the deadline.
struct Waiter<Value: Sendable>: Sendable {
    let deadline: Nanoseconds
    let promise = Promise<Value>()

    init(deadline: Nanoseconds) { self.deadline = deadline }
}
