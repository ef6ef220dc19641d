extension Reactor {
    /// How much longer than the server's own time limit a connection may be silent before it is closed.
    private static let grace = Nanoseconds.seconds(2)

    func millisecondsToNextTimer() -> Int32 {
        if isBusy { nextSweep = min(nextSweep, now + Self.sweepInterval) }
        let timers = connections.reduce(nextSweep) { min($0, $1.retryAt, nextListeningTimer(of: $1)) }
        guard timers < .never else { return -1 }
        // Rounded up, because the loop would otherwise spin during the last fraction of a millisecond.
        return Int32(clamping: max(0, timers - .now + 999_999) / 1_000_000)
    }

    func runTimers() {
        for connection in connections {
            beat(connection)
            if connection.retryAt <= now { connect(connection) }
        }
    }

    /// Fails the requests whose deadline has passed, every 50 ms while a caller is waiting.
    func sweep() {
        nextSweep = .never
        sweepConnections()
        sweepPending()
        sweepLeaseWaiters()
        readyWaiters.removeAll { waiter in
            waiter.promise.isSettled || (waiter.deadline <= now && waiter.promise.fail(unavailable))
        }
    }

    private var unavailable: PostgresError { .unavailable(lastRefusal ?? "no connection yet") }

    private func sweepPending() {
        let isDown = outages.pipelined.exceedsPatience(at: now)
        pending.removeAll { request in
            if isDown { request.promise.fail(unavailable) }
            if request.deadline <= now { request.promise.fail(.deadlineExceeded) }
            return request.promise.isSettled
        }
    }

    private func sweepLeaseWaiters() {
        let isDown = outages.leased.exceedsPatience(at: now)
        leaseWaiters.removeAll { waiter in
            if isDown { waiter.promise.fail(unavailable) }
            if waiter.deadline <= now { waiter.promise.fail(.overloaded) }
            return waiter.promise.isSettled
        }
    }

    private func sweepConnections() {
        for connection in connections {
            failLateRequests(of: connection)
            if connection.isSilent(for: limit(of: connection), at: now) {
                lose(connection, "the server does not answer")
            }
            // libpq may hold decrypted TLS bytes, for which poll() does not report the socket as readable
            if !connection.inFlight.isEmpty { read(connection) }
        }
    }

    private func failLateRequests(of connection: Connection) {
        let late = connection.requests.filter { $0.deadline <= now && $0.promise.fail($0.lateError) }
        guard !late.isEmpty else { return }
        late.forEach(interrupt)
        // The server refuses the statements behind a cancelled one. Their error is the deadline, too, because a refusal
        // says nothing about the reason.
        guard connection.isLeased else { return }
        for request in connection.requests where !request.endsLease { request.promise.fail(request.lateError) }
    }

    private func limit(of connection: Connection) -> Nanoseconds {
        if connection.isSuspect { return probeTimeout }
        guard connection.isReady, connection.listener == nil else { return Self.grace }
        let timeout =
            connection.isLeased
            ? max(configuration.transactionStatementTimeout, connection.lease?.statementLimit ?? .zero)
            : configuration.statementTimeout
        return Nanoseconds(timeout) + Self.grace
    }
}
