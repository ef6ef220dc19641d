import CLibPQ

/// Sends statements through libpq; each function records the answer to expect, and returns false on a broken
/// connection.
extension Connection {
    func sendCommand(_ sql: String, as entry: Entry) -> Bool {
        guard let link, PQsendQueryParams(link.raw, sql, 0, nil, nil, nil, nil, 0) == 1 else { return false }
        expect(entry)
        return true
    }

    func send(_ request: Request) -> Bool {
        let isSent =
            switch request.work {
            case .statement(let statement, let arguments): send(request, statement, arguments)
            case .commit: sendCommand("COMMIT", as: .work(request))
            case .rollback: sendCommand("ROLLBACK", as: .work(request))
            case .script(let sql): sendSimple(sql, as: .script(request))
            }
        if isSent { requestsInFlight += 1 }
        return isSent
    }

    private func send(_ request: Request, _ statement: Statement, _ arguments: Arguments) -> Bool {
        guard let link, let name = prepared[request.key] ?? prepare(request, statement, arguments, on: link) else {
            return false
        }
        let binaryResults: Int32 = 1
        let isSent = arguments.withPointers { count, values, lengths, formats in
            PQsendQueryPrepared(link.raw, name, count, values, lengths, formats, binaryResults) == 1
        }
        guard isSent else { return false }
        expect(.work(request))
        return true
    }

    /// Prepares the statement under its own sync, so that the error of another statement in the batch can't undo it.
    private func prepare(_ request: Request, _ statement: Statement, _ arguments: Arguments, on link: Link) -> String? {
        guard !hasOpenBatch || sync() else { return nil }
        let name = newName(for: request.key)
        let count = Int32(truncatingIfNeeded: arguments.types.count)
        guard PQsendPrepare(link.raw, name, statement.text, count, arguments.types) == 1 else { return nil }
        expect(.prepare(request))
        prepared[request.key] = name
        return sync() ? name : nil
    }

    /// It accepts several statements, but the pipeline must be empty and pipeline mode off.
    private func sendSimple(_ sql: String, as entry: Entry) -> Bool {
        guard let link, PQexitPipelineMode(link.raw) == 1, PQsendQuery(link.raw, sql) == 1 else { return false }
        expect(entry)
        return true
    }

    func sync() -> Bool {
        guard let link, PQpipelineSync(link.raw) == 1 else { return false }
        hasOpenBatch = false
        batchSize = 0
        expect(.sync)
        return true
    }

    func flush() -> Bool {
        guard let link else { return false }
        let status = PQflush(link.raw)
        hasUnsentBytes = status == 1
        return status >= 0
    }

    private func expect(_ entry: Entry) {
        if inFlight.isEmpty { lastProgress = .now }
        inFlight.append(entry)
        hasUnsentBytes = true
    }
}
