import CLibPQ

extension Reactor {
    /// Reads what the server has sent and settles every request that it answers.
    func read(_ connection: Connection) {
        guard let link = connection.link else { return }
        let wasAsked = !connection.inFlight.isEmpty
        // Answers that arrived before the end of the stream still count.
        let isOpen = PQconsumeInput(link.raw) == 1
        while let entry = connection.inFlight.first, PQisBusy(link.raw) == 0 {
            guard let raw = PQgetResult(link.raw) else {
                guard complete(entry, on: connection) else { return }
                continue
            }
            connection.lastProgress = now
            connection.isSuspect = false
            let answer = Answer(owning: raw)
            switch PQresultStatus(raw) {
            case PGRES_PIPELINE_SYNC:
                // Unlike the answers to a statement, a sync is not followed by NULL.
                connection.inFlight.popFirst()
                didSync(connection, link)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: return lose(connection, "COPY is not supported")
            case PGRES_FATAL_ERROR where ServerError(answer) == nil: return lose(connection, answer.complaint)
            default:
                // Keeps the last result; if a script fails, this is its error.
                connection.answer = answer
            }
        }
        guard isOpen else { return lose(connection, link.complaint) }
        deliverNotifications(connection, link, wasAsked: wasAsked)
    }

    /// Handles the first entry in flight once all its results have arrived; returns false if the connection was closed.
    private func complete(_ entry: Connection.Entry, on connection: Connection) -> Bool {
        guard let link = connection.link, let answer = connection.answer else {
            lose(connection, "an answer is missing")
            return false
        }
        connection.answer = nil
        connection.inFlight.popFirst()
        let error = answer.isError ? ServerError(answer) : nil
        switch entry {
        case .work(let request):
            connection.requestsInFlight -= 1
            settle(request, answer, error, on: connection)
        case .script(let request):
            connection.requestsInFlight -= 1
            request.promise.settle(error.map { .failure(.server($0)) } ?? .success(Rows(answer)))
            guard PQenterPipelineMode(link.raw) == 1 else { return closed(connection, link.complaint) }
        case .prepare(let request):
            // A duplicate name is no error: names are derived from the text, so the existing statement is the same.
            guard let error, error.sqlState != ServerError.duplicateStatement else { return true }
            connection.forget(request.key)
            request.promise.fail(.server(error))
        case .setup:
            if let error { return closed(connection, error.message) }
            didSetUp(connection)
        case .begin: if answer.isError || answer.isAborted { return closed(connection, error?.message) }
        case .listen(let isLast):
            if let error { return closed(connection, error.message) }
            if isLast { didListen(connection) }
        case .probe(let sentAt):
            if let error { return closed(connection, error.message) }
            deliverNotifications(connection, link, wasAsked: true)
            didAnswerProbe(connection, sentAt: sentAt)
        case .beat(let listening, let number): listening.heartbeats.settle(number, at: answer.isError ? nil : now)
        case .sync:
            // The commit failed, and the server has yet to answer the sync; LISTEN would not be in effect.
            guard let error, connection.listener == nil else {
                return closed(connection, error?.message ?? "a sync was answered like a statement")
            }
            connection.inFlight.prepend([.sync])
            settleWrite(on: connection, link, error)
        }
        return true
    }

    private func closed(_ connection: Connection, _ reason: String?) -> Bool {
        lose(connection, reason)
        return false
    }

    private func settle(_ request: Request, _ answer: Answer, _ error: ServerError?, on connection: Connection) {
        if request.endsLease { connection.isEnding = true }
        if answer.isAborted {
            guard request.lease == nil else { return _ = request.promise.fail(.server(.inFailedTransaction)) }
            // Another statement in the batch failed; its error does not concern this caller.
            return sendAgain(request, unless: request.isAlone) { $0.isAlone = true }
        }
        guard let error else {
            guard !request.awaitsCommit else { return connection.uncommitted = (request, Rows(answer)) }
            return _ = request.promise.settle(.success(Rows(answer)))
        }
        let isInDoubt = request.awaitsCommit && connection.link?.takeDoubt() == true
        guard !isInDoubt else { return _ = request.promise.fail(request.lossError) }
        guard error.meansStalePlan else { return _ = request.promise.fail(.server(error)) }
        connection.forget(request.key)
        guard request.lease == nil, !request.isRepeated else { return _ = request.promise.fail(.server(error)) }
        sendAgain(request, unless: false) { $0.isRepeated = true }
    }

    /// Sends a request again unless its promise is settled; fails it if `isDone`, because it can't be sent again.
    func sendAgain(_ request: Request, unless isDone: Bool, marking: (Request) -> Void) {
        guard !isDone else { return _ = request.promise.fail(request.lossError) }
        guard !request.promise.isSettled else { return }
        marking(request)
        repeated.append(request)
    }

    private func didSync(_ connection: Connection, _ link: Link) {
        settleWrite(on: connection, link, nil)
        guard connection.isLeased, connection.isEnding else { return }
        guard PQtransactionStatus(link.raw) == PQTRANS_IDLE, connection.backlog.isEmpty else {
            return lose(connection, "a transaction did not end")
        }
        endLease(of: connection)
    }

    /// Settles the write of the current sync, if there is one, with the outcome of its commit.
    ///
    /// The server commits before it answers a sync; only then may a write be acknowledged.
    private func settleWrite(on connection: Connection, _ link: Link, _ error: ServerError?) {
        let isInDoubt = link.takeDoubt()
        guard let (request, rows) = connection.uncommitted else { return }
        connection.uncommitted = nil
        guard !isInDoubt else { return _ = request.promise.fail(request.lossError) }
        request.promise.settle(error.map { .failure(.server($0)) } ?? .success(rows))
    }
}

extension Answer {
    var isAborted: Bool { PQresultStatus(raw) == PGRES_PIPELINE_ABORTED }
    var isError: Bool { PQresultStatus(raw) == PGRES_FATAL_ERROR }
    var complaint: String { oneLine(String(cString: PQresultErrorMessage(raw))) }
}

extension ServerError {
    static let inFailedTransaction = Self(sqlState: "25P02", message: "rolled back, because a statement had failed")
    static let duplicateStatement = "42P05"

    /// Whether the prepared statement no longer exists or a migration changed its result type; nothing was executed.
    var meansStalePlan: Bool { sqlState == "26000" || (sqlState == "0A000" && routine == "RevalidateCachedQuery") }
}
