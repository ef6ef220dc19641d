package import Logging
import Synchronization

/// An asynchronous client of a PostgreSQL database.
///
/// Single statements share pipelined connections; each transaction has a connection of its own. Call `start` before the
/// first statement and `stop` after the last; `Postgres.swift` explains the flow.
package final class Database: Executor {
    package let configuration: Configuration
    let logger: Logger
    let inbox = Inbox()
    private let thread = Mutex<OwnThread?>(nil)

    package init(_ configuration: Configuration, logger: Logger) {
        (self.configuration, self.logger) = (configuration, logger)
    }

    /// Starts the reactor, which connects at once, and returns without waiting; call this once.
    package func start() {
        let (configuration, inbox, logger) = (configuration, inbox, logger)
        thread.withLock { thread in
            precondition(thread == nil, "a database is started once")
            if inbox.wakeUp >= 0 { thread = OwnThread { Reactor(configuration, inbox: inbox, logger: logger).run() } }
            // Without an eventfd or a thread, the inbox is closed, because no request would ever be answered.
            if thread == nil { _ = inbox.close() }
        }
    }

    /// Waits until single statements can be run; the error contains libpq's reason if that takes too long.
    package func ready(within limit: Duration) async throws(PostgresError) {
        try configuration.validate()
        let waiter = Waiter<Void>(deadline: .now + Nanoseconds(limit))
        guard inbox.post(.whenReady(waiter)) else { throw .stopped }
        try await waiter.promise.value()
    }

    /// Refuses new work, waits up to the deadline for the work in progress, then closes the connections.
    package func stop() async {
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let running else { return }
        let waiter = Waiter<Void>(deadline: .now + Nanoseconds(configuration.deadline))
        if inbox.post(.stop(waiter)) { try? await waiter.promise.shieldedValue() }
        // The thread settles the promise just before it ends.
        running.join()
    }

    package func execute(_ statement: Statement, _ binds: [Bind]) async throws(PostgresError) -> Rows {
        let start = Nanoseconds.now
        let request = Request(
            .statement(statement, try Arguments(binds)), deadline: start + Nanoseconds(configuration.deadline))
        try inbox.admit(.submit(request), limit: configuration.queueLimit)
        inbox.noteRoundTrip()
        defer { inbox.noteAnswer(after: .now - start) }
        return try await request.promise.value()
    }

    package var statistics: Statistics { inbox.statistics }

    /// The numbers of answered and failed single statements of this process, by classes of waiting times.
    ///
    /// The first class ends at 100 µs, each further one at a time that is √2 times as long, and the last one has no
    /// end.
    package var waits: [Int] { inbox.waits }

    package struct Statistics: Sendable, Equatable {
        /// The number of requests that were accepted and are not sent yet.
        package var waiting = 0
        package var inFlight = 0
        package var connections = 0
        package var transactions = 0
        /// The number of times that a lost connection was re-established.
        package var reconnects = 0
        /// How often a caller has waited for the server; statements of a transaction that are sent together count once.
        package var roundTrips = 0
        package var isReachable = false
    }
}
