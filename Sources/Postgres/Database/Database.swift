package import Logging
import Synchronization

/// The asynchronous client of one PostgreSQL: pipelined connections for single statements, exclusive ones for
/// transactions.
///
/// `start` and `stop` frame its life; see `Postgres.swift` for the flow.
package final class Database: Executor {
    package let configuration: Configuration
    let logger: Logger
    let inbox = Inbox()
    private let thread = Mutex<OwnThread?>(nil)

    package init(_ configuration: Configuration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Starts the reactor, which connects at once; does not wait.
    ///
    /// To be called once.
    package func start() {
        let (configuration, inbox, logger) = (configuration, inbox, logger)
        thread.withLock { thread in
            precondition(thread == nil, "a database is started once")
            thread = OwnThread { Reactor(configuration, inbox: inbox, logger: logger).run() }
            // without its thread no request would ever be answered
            if thread == nil { _ = inbox.close() }
        }
    }

    /// Waits until single statements can be run; the error gives libpq's reason why not.
    package func ready(within limit: Duration) async throws(PostgresError) {
        try configuration.validate()
        let waiter = Waiter<Void>(deadline: .now + Nanoseconds(limit))
        guard inbox.post(.whenReady(waiter)) else { throw .stopped }
        try await waiter.promise.value()
    }

    /// Refuses new work, lets what is under way finish within the deadline, then closes the connections.
    package func stop() async {
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let running else { return }
        let waiter = Waiter<Void>(deadline: .now + Nanoseconds(configuration.deadline))
        if inbox.post(.stop(waiter)) { try? await waiter.promise.shieldedValue() }
        // the thread's last act was to keep that promise
        running.join()
    }

    /// Runs one statement in a transaction of its own.
    package func execute(_ statement: Statement, _ binds: [Bind]) async throws(PostgresError) -> Rows {
        let request = Request(
            .statement(statement, try Arguments(binds)), deadline: .now + Nanoseconds(configuration.deadline))
        try inbox.admit(.submit(request), limit: configuration.queueLimit)
        return try await request.promise.value()
    }

    /// Whether single statements can be run at this moment.
    package var isReachable: Bool { statistics.isReachable }

    package var statistics: Statistics { inbox.statistics }
}

extension Database {
    /// A snapshot for metrics.
    package struct Statistics: Sendable, Equatable {
        /// Accepted and not yet sent.
        package var waiting = 0
        package var inFlight = 0
        package var connections = 0
        package var transactions = 0
        /// How often a connection came back after it had been lost.
        package var reconnects = 0
        package var isReachable = false
    }
}
