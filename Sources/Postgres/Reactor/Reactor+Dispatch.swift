extension Reactor {
    /// Keeps a connection's share of waiting small enough that deadlines and cancellation mean something.
    private static let inFlightLimit = 256
    /// An error makes every later read of its batch start again, and answers leave the server batch by batch.
    private static let batchLimit = 32

    func accept(_ request: Request) {
        guard let lease = request.lease else {
            guard stopWaiter == nil else { return _ = request.promise.fail(.stopped) }
            return pending.append(request)
        }
        let connection = connections[lease.slot]
        guard connection.lease === lease else {
            // the connection was lost before this was sent: the transaction, a COMMIT included, is undone
            return _ = request.promise.fail(.connectionLost(maybeExecuted: false))
        }
        connection.backlog.append(request)
    }

    /// Hands single statements to the pipelined connections, each to the one with the fewest in flight.
    func dispatch() {
        if !repeated.isEmpty {
            pending.prepend(repeated)
            repeated = []
        }
        while let request = pending.first {
            if !request.promise.isSettled {
                guard let connection = leastBusy() else { break }
                // a request which libpq did not take stays pending
                guard transmit(request, on: connection) else {
                    lose(connection, connection.link?.complaint)
                    continue
                }
            }
            pending.popFirst()
        }
        for connection in pipelinedConnections where connection.hasOpenBatch && !connection.sync() {
            lose(connection, connection.link?.complaint)
        }
    }

    func leastBusy() -> Connection? {
        pipelinedConnections
            .filter { $0.isReady && $0.requestsInFlight < Self.inFlightLimit }
            .min { $0.requestsInFlight < $1.requestsInFlight }
    }

    /// False if nothing that could take effect was sent: without its sync the server undoes a statement.
    private func transmit(_ request: Request, on connection: Connection) -> Bool {
        let joinsBatch = request.isRead && !request.isAlone
        if connection.hasOpenBatch, !joinsBatch || connection.batchSize >= Self.batchLimit, !connection.sync() {
            return false
        }
        guard connection.send(request) else { return false }
        guard joinsBatch else {
            if !connection.sync() { lose(connection, connection.link?.complaint) }
            return true
        }
        connection.hasOpenBatch = true
        connection.batchSize += 1
        return true
    }
}
