import CLibPQ
import Glibc
import Logging

/// The only thread that uses connections: it reads the inbox, passes requests to libpq, and reads the answers.
final class Reactor {
    static let sweepInterval = Nanoseconds.milliseconds(50)

    let configuration: Database.Configuration
    let inbox: Inbox
    let logger: Logger
    var now = Nanoseconds.now

    /// The connections; the index of each is its slot.
    var connections: [Connection]
    /// Single statements that are not sent yet.
    var pending = Queue<Request>()
    /// Statements to send again, before any pending one.
    var repeated: [Request] = []
    var leaseWaiters = Queue<Waiter<Lease>>()
    var readyWaiters = Queue<Waiter<Void>>()
    var stopWaiter: Waiter<Void>?

    var outages = (pipelined: Outage(since: .now), leased: Outage(since: .now))
    /// Why the latest attempt to connect failed; nil if it succeeded.
    var lastRefusal: String?
    var reconnects = 0
    var nextSweep = Nanoseconds.never

    init(_ configuration: Database.Configuration, inbox: Inbox, logger: Logger) {
        (self.configuration, self.inbox, self.logger) = (configuration, inbox, logger)
        let roles =
            Array(repeating: Connection.Role.pipelined, count: configuration.pipelined)
            + Array(repeating: Connection.Role.leased, count: configuration.transactions)
        connections = roles.enumerated().map { Connection(slot: $0, role: $1) }
    }

    func run() {
        connections.forEach(connect)
        while true {
            inbox.drain().forEach(receive)
            dispatch()
            leasedConnections.forEach(pump)
            if now >= nextSweep { sweep() }
            runTimers()
            for connection in connections where connection.hasUnsentBytes && !connection.flush() {
                lose(connection, connection.link?.complaint)
            }
            guard !isFinished else { return shutDown() }
            wait()
        }
    }

    var pipelinedConnections: some Sequence<Connection> { connections.lazy.filter(\.isPipelined) }
    var leasedConnections: some Sequence<Connection> { connections.lazy.filter(\.isLeased) }

    private func receive(_ message: Message) {
        switch message {
        case .submit(let request): accept(request)
        case .lease(let waiter): accept(waiter)
        case .interrupt(let request): interrupt(request)
        case .interrupted(let slot, let attempt): didInterrupt(slot: slot, attempt: attempt)
        case .connected(let slot, let attempt, let link): didConnect(slot: slot, attempt: attempt, link)
        case .refused(let slot, let attempt, let reason): didNotConnect(slot: slot, attempt: attempt, reason)
        case .whenReady(let waiter): accept(waiter)
        case .listen(let listener): listen(listener)
        case .stopListening(let listener): stopListening(listener)
        case .stop(let waiter):
            stopWaiter = waiter
            readyWaiters.takeAll().forEach { $0.promise.fail(.stopped) }
            connections.compactMap(\.listener).forEach(stopListening)
        }
    }

    /// Sleeps until a message, a socket or a timer needs attention, and reads what has arrived.
    private func wait() {
        let open = connections.filter { $0.link != nil }
        var polled = [pollfd(fd: inbox.wakeUp, events: Int16(POLLIN), revents: 0)]
        for connection in open {
            let events = connection.hasUnsentBytes ? POLLIN | POLLOUT : POLLIN
            polled.append(pollfd(fd: PQsocket(connection.link?.raw), events: Int16(events), revents: 0))
        }
        let timeout = inbox.maySleep(statistics) ? millisecondsToNextTimer() : 0
        let count = poll(&polled, nfds_t(polled.count), timeout)
        inbox.awake(wasCalled: polled[0].revents != 0)
        now = .now
        guard count > 0 else { return }
        for (connection, state) in zip(open, polled.dropFirst()) where state.revents & ~Int16(POLLOUT) != 0 {
            read(connection)
        }
    }

    var statistics: Database.Statistics {
        Database.Statistics(
            waiting: pending.count + repeated.count + leaseWaiters.count,
            inFlight: connections.reduce(0) { $0 + $1.requestsInFlight },
            connections: connections.count(where: \.isReady),
            transactions: leasedConnections.reduce(0) { $0 + ($1.lease == nil ? 0 : 1) }, reconnects: reconnects,
            isReachable: pipelinedConnections.contains(where: \.isReady))
    }

    private var isFinished: Bool {
        guard let stopWaiter else { return false }
        return stopWaiter.deadline <= now || !isBusy
    }

    /// Whether a caller is waiting for an answer.
    var isBusy: Bool {
        !pending.isEmpty || !repeated.isEmpty || !leaseWaiters.isEmpty || !readyWaiters.isEmpty
            || connections.contains { !$0.inFlight.isEmpty || !$0.backlog.isEmpty || $0.lease != nil }
    }

    private func shutDown() {
        let unread = inbox.close()
        for connection in connections { lose(connection, nil) }
        for request in repeated + pending { request.promise.fail(.stopped) }
        for waiter in leaseWaiters { waiter.promise.fail(.stopped) }
        for waiter in readyWaiters { waiter.promise.fail(.stopped) }
        for message in unread {
            switch message {
            case .submit(let request): request.promise.fail(.stopped)
            case .lease(let waiter): waiter.promise.fail(.stopped)
            case .whenReady(let waiter), .stop(let waiter): waiter.promise.fail(.stopped)
            case .interrupt, .interrupted, .connected, .refused, .listen, .stopListening: break
            }
        }
        stopWaiter?.promise.settle(.success(()))
    }
}
