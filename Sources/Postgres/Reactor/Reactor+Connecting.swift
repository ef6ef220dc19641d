import Logging

extension Reactor {
    /// The time since which no connection of a kind, pipelined or leased, is ready; nil while one is.
    struct Outage {
        /// How long callers wait for the database to be reachable again before they get an error.
        static let patience = Nanoseconds.seconds(1)

        var since: Nanoseconds?

        mutating func note(isUp: Bool, at now: Nanoseconds) { since = isUp ? nil : since ?? now }
        func exceedsPatience(at now: Nanoseconds) -> Bool { since.map { now - $0 >= Self.patience } ?? false }
    }

    func connect(_ connection: Connection) {
        connection.attempt += 1
        connection.isConnecting = true
        connection.attemptedAt = now
        connection.retryAt = .never
        Connector.connect(slot: connection.slot, attempt: connection.attempt, configuration, inbox: inbox)
    }

    func didConnect(slot: Int, attempt: Int, _ link: Link) {
        let connection = connections[slot]
        // An outdated link is released, which closes it.
        guard connection.attempt == attempt, connection.isConnecting else { return }
        connection.isConnecting = false
        connection.link = link
        guard connection.sendCommand(settings(of: connection), as: .setup), connection.sync() else {
            return lose(connection, link.complaint)
        }
    }

    func didNotConnect(slot: Int, attempt: Int, _ reason: String) {
        let connection = connections[slot]
        guard connection.attempt == attempt, connection.isConnecting else { return }
        connection.isConnecting = false
        // Logged once per reason, because several connections retry every second.
        if reason != lastRefusal {
            logger.warning("database cannot be reached, retrying", metadata: ["reason": "\(reason)"])
        }
        // The delay counts from the start of the attempt, so a slow attempt is retried at once.
        retry(connection, after: reason, since: connection.attemptedAt)
    }

    func didSetUp(_ connection: Connection) {
        connection.isReady = true
        connection.backoff.reset()
        lastRefusal = nil
        noteOutages()
        if connection.wasReady { reconnects += 1 }
        connection.wasReady = true
        logger.debug("database connected", metadata: ["connection": "\(connection.slot)"])
        if let listener = connection.listener { sendListen(connection, listener) }
        if connection.isLeased { grant(connection) }
        if connection.isPipelined {
            // A waiter may read the statistics as soon as it resumes.
            inbox.publish(statistics)
            readyWaiters.takeAll().forEach { $0.promise.settle(.success(())) }
        }
    }

    func accept(_ waiter: Waiter<Void>) {
        if stopWaiter != nil {
            waiter.promise.fail(.stopped)
        } else if pipelinedConnections.contains(where: \.isReady) {
            inbox.publish(statistics)
            waiter.promise.settle(.success(()))
        } else {
            readyWaiters.append(waiter)
        }
    }

    /// Closes the connection (on purpose if `reason` is nil), fails or repeats its requests, and schedules the next
    /// attempt.
    func lose(_ connection: Connection, _ reason: String?) {
        let isOnPurpose = reason == nil
        let reason = reason ?? "closed"
        guard connection.link != nil || connection.isConnecting else { return }
        let wasListening = connection.nextBeat != .never
        let sent = connection.inFlight.takeAll()
        let unsent = connection.backlog.takeAll()
        if let request = connection.uncommitted?.request { request.promise.fail(request.lossError) }
        if stopWaiter == nil, !isOnPurpose {
            let metadata: Logger.Metadata = ["connection": "\(connection.slot)", "reason": "\(reason)"]
            if connection.isReady {
                logger.warning("database connection lost", metadata: metadata)
            } else if reason != lastRefusal {
                logger.warning("database session cannot be set up, retrying", metadata: metadata)
            }
        }
        connection.reset()
        for entry in sent {
            switch entry {
            case .work(let request), .script(let request):
                sendAgain(request, unless: !request.isRead || request.isRepeated) { $0.isRepeated = true }
            case .setup, .prepare, .begin, .listen, .probe, .beat, .sync: break
            }
        }
        for request in unsent { request.promise.fail(.connectionLost(maybeExecuted: false)) }
        if wasListening { didStopListening(connection) }
        noteOutages()
        retry(connection, after: reason, since: now)
    }

    private func noteOutages() {
        outages.pipelined.note(isUp: pipelinedConnections.contains(where: \.isReady), at: now)
        outages.leased.note(isUp: leasedConnections.contains(where: \.isReady), at: now)
    }

    private func retry(_ connection: Connection, after reason: String, since start: Nanoseconds) {
        guard stopWaiter == nil else { return }
        lastRefusal = reason
        connection.retryAt = start + connection.backoff.next()
    }

    /// The SQL that sets the server's time limits, so that no statement runs on after its caller has stopped waiting.
    ///
    /// Plans are generic. PostgreSQL expects ten elements in an array whose value it does not know, so it would plan
    /// each statement with an array again each time, which took longer than running it. Citus can't use generic plans
    /// of distributed tables.
    ///
    /// Plans are not compiled. A generic plan does not know the value of `LIMIT`, expects far more rows, and would be
    /// compiled for them: a page of a list took 0.2 s with ten million accounts, and takes 1 ms without.
    ///
    /// Warnings must be sent, because some say that a commit may be lost.
    private func settings(of connection: Connection) -> String {
        let statementTimeout =
            connection.isLeased ? configuration.transactionStatementTimeout : configuration.statementTimeout
        let settings = [
            ("TimeZone", "UTC"), ("client_min_messages", "warning"), ("jit", "off"),
            ("statement_timeout", "\(statementTimeout.milliseconds)"),
            ("lock_timeout", "\(configuration.lockTimeout.milliseconds)"),
            ("idle_in_transaction_session_timeout", "\(configuration.transactionIdleTimeout.milliseconds)"),
        ]
        return "SELECT " + settings.map { "set_config('\($0)', '\($1)', false)" }.joined(separator: ", ")
            + """
            , set_config('plan_cache_mode', CASE WHEN EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
                                            THEN 'auto' ELSE 'force_generic_plan' END, false)
            """
    }
}
