import CLibPQ

extension Reactor {
    func accept(_ waiter: Waiter<Lease>) {
        guard stopWaiter == nil else { return _ = waiter.promise.fail(.stopped) }
        leaseWaiters.append(waiter)
        if let idle = leasedConnections.first(where: { $0.isReady && $0.lease == nil }) { grant(idle) }
    }

    /// Leases an idle connection to the first caller that still waits for one.
    func grant(_ connection: Connection) {
        while let waiter = leaseWaiters.popFirst() {
            let lease = Lease(slot: connection.slot)
            guard waiter.promise.settle(.success(lease)) else { continue }
            connection.lease = lease
            return
        }
    }

    func endLease(of connection: Connection) {
        connection.lease = nil
        connection.hasBegun = false
        connection.isEnding = false
        grant(connection)
    }

    /// Sends the transaction's requests, in one batch if several wait.
    ///
    /// BEGIN is sent in one batch with the first statement, so that the server skips the statement if BEGIN fails.
    func pump(_ connection: Connection) {
        sendBacklog(of: connection)
        if connection.hasOpenBatch, !connection.sync() { lose(connection, connection.link?.complaint) }
    }

    private func sendBacklog(of connection: Connection) {
        while let request = connection.backlog.first {
            guard connection.interruptedSince == nil, !connection.runsScript else { return }
            if request.endsLease, !connection.hasBegun {
                connection.backlog.popFirst()
                request.promise.settle(.success(Rows(nil)))
                endLease(of: connection)
                continue
            }
            if request.promise.isSettled, !request.endsLease {
                connection.backlog.popFirst()
                continue
            }
            guard begin(connection, for: request) else { return lose(connection, connection.link?.complaint) }
            if request.isScript, !connection.inFlight.isEmpty { return }
            // After an error in a batch, the server would skip a COMMIT or ROLLBACK in the same batch.
            if request.endsLease, connection.hasOpenBatch, !connection.sync() {
                return lose(connection, connection.link?.complaint)
            }
            connection.backlog.popFirst()
            guard connection.send(request) else {
                request.promise.fail(.connectionLost(maybeExecuted: false))
                return lose(connection, connection.link?.complaint)
            }
            connection.hasOpenBatch = !request.isScript
        }
    }

    private func begin(_ connection: Connection, for request: Request) -> Bool {
        guard !connection.hasBegun else { return true }
        connection.hasBegun = true
        return connection.sendCommand("BEGIN", as: .begin) && (!request.isScript || connection.sync())
    }

    /// The connection sends nothing more until the cancellation request is complete, because the request could
    /// otherwise cancel the ROLLBACK.
    func interrupt(_ request: Request) {
        guard let lease = request.lease, let link = connections[lease.slot].link else { return }
        let connection = connections[lease.slot]
        guard connection.hasInFlight(request) else { return _ = request.promise.fail(.cancelled) }
        guard connection.interruptedSince == nil else { return }
        if Connector.interrupt(link, slot: connection.slot, attempt: connection.attempt, inbox: inbox) {
            connection.interruptedSince = now
        }
    }

    func didInterrupt(slot: Int, attempt: Int) {
        let connection = connections[slot]
        if connection.attempt == attempt { connection.interruptedSince = nil }
    }
}
