import CLibPQ

/// A libpq connection, closed with the last reference to it.
///
/// The compiler cannot check that it is sendable: the connector's thread opens it and hands it over, and after that
/// only the reactor's thread uses it. libpq calls the receiver of notices on the thread that uses the connection.
final class Link: @unchecked Sendable {
    let raw: OpaquePointer
    /// Whether the server has warned that a commit which it reports as successful may be lost.
    private var isCommitInDoubt = false

    init(owning raw: OpaquePointer) {
        self.raw = raw
        // Without a receiver, libpq would print notices on standard error.
        let receiver: PQnoticeReceiver = { link, notice in
            guard let link, let warning = ServerError(notice), warning.isOfDoubtfulCommit else { return }
            Unmanaged<Link>.fromOpaque(link).takeUnretainedValue().isCommitInDoubt = true
        }
        PQsetNoticeReceiver(raw, receiver, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { PQfinish(raw) }

    var complaint: String {
        let text = oneLine(String(cString: PQerrorMessage(raw)))
        return text.isEmpty ? "the connection was closed" : text
    }

    /// Returns whether the commit that has just been answered may be lost, and forgets it.
    func takeDoubt() -> Bool {
        defer { isCommitInDoubt = false }
        return isCommitInDoubt
    }

    func canceller() -> Canceller? { PQgetCancel(raw).map(Canceller.init) }

    /// Cancels the connection's current statement from another thread.
    ///
    /// The compiler cannot check that it is sendable: libpq allows `PQcancel` on any thread, which only reads the value.
    final class Canceller: @unchecked Sendable {
        private let raw: OpaquePointer

        init(_ raw: OpaquePointer) { self.raw = raw }
        deinit { PQfreeCancel(raw) }

        /// Sends the cancellation request and blocks until the server has processed it or the request has failed.
        func cancel() {
            var complaint = [CChar](repeating: 0, count: 256)
            PQcancel(raw, &complaint, Int32(complaint.count))
        }
    }
}

extension ServerError {
    init?(_ answer: Answer) { self.init(answer.raw) }

    /// Nil if the result has no SQLSTATE, as libpq generated the error for a broken connection, or if the error ended
    /// the session.
    fileprivate init?(_ result: OpaquePointer?) {
        func field(_ code: Character) -> String? {
            code.asciiValue.flatMap { PQresultErrorField(result, Int32($0)) }.map { String(cString: $0) }
        }
        // The codes are the PG_DIAG_… macros of postgres_ext.h, which Swift does not import.
        guard let sqlState = field("C"), let message = field("M") else { return nil }
        let severity = field("V")
        guard severity != "FATAL", severity != "PANIC" else { return nil }
        self.init(
            sqlState: sqlState, message: message, detail: field("D"), hint: field("H"), schema: field("s"),
            table: field("t"), column: field("c"), constraint: field("n"), routine: field("R"))
    }
}

extension ServerError {
    /// Whether the warning says that a commit may be lost though the server reports it as successful.
    ///
    /// Citus sends such a warning if the only worker of a transaction is lost during the commit, and PostgreSQL if a
    /// commit is cancelled while it waits for a synchronous standby.
    fileprivate var isOfDoubtfulCommit: Bool {
        message.hasPrefix("failed to commit transaction on ") || routine == "SyncRepWaitForLSN"
    }
}

extension Database {
    /// Whether the server accepts connections, even if it would refuse this one; blocks until that is known.
    package static func isReady(url: String) -> Bool { PQping(url) == PQPING_OK }

    /// Runs one statement, such as CREATE DATABASE, on a new connection outside any transaction, and blocks until the
    /// answer.
    package static func runAlone(_ sql: String, url: String) throws(PostgresError) {
        guard let raw = PQconnectdb(url) else { throw .unavailable("out of memory") }
        let link = Link(owning: raw)
        guard PQstatus(raw) == CONNECTION_OK, let result = PQexec(raw, sql) else { throw .unavailable(link.complaint) }
        let answer = Answer(owning: result)
        guard answer.isError else { return }
        throw ServerError(answer).map { .server($0) } ?? .unavailable(link.complaint)
    }
}
