extension Reactor {
    /// The requests in flight on one connection; deadlines and cancellation still apply to further ones in the queue.
    private static let inFlightLimit = 256
    /// The maximum number of reads in a batch.
    ///
    /// After an error, all later reads of the batch must be sent again, and the server sends its answers one batch at a
    /// time.
    private static let batchLimit = 32

    func accept(_ request: Request) {
        guard let lease = request.lease else {
            guard stopWaiter == nil else { return _ = request.promise.fail(.stopped) }
            return pending.append(request)
        }
        let connection = connections[lease.slot]
        guard connection.lease === lease else {
            // The connection was lost before this was sent: the transaction is undone, and its COMMIT was not executed.
            return _ = request.promise.fail(.connectionLost(maybeExecuted: false))
        }
        connection.backlog.append(request)
    }

    /// Sends each single statement on the pipelined connection with the fewest requests in flight.
    func dispatch() {
        if !repeated.isEmpty {
            pending.prepend(repeated)
            repeated = []
        }
        while let request = pending.first {
            if !request.promise.isSettled {
                guard let connection = leastBusy() else { break }
                // A request that libpq did not accept stays pending.
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

    /// Returns false if the connection failed before anything was sent that can take effect, which needs a sync.
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
