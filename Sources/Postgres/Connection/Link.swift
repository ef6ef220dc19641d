import CLibPQ

/// A libpq connection, closed with the last reference to it; after the connector, only the reactor's thread uses it.
final class Link: @unchecked Sendable {
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) {
        self.raw = raw
        // libpq would print notices on standard error
        PQsetNoticeReceiver(raw, { _, _ in }, nil)
    }

    deinit { PQfinish(raw) }

    var complaint: String {
        let text = oneLine(String(cString: PQerrorMessage(raw)))
        return text.isEmpty ? "the connection was closed" : text
    }

    func canceller() -> Canceller? { PQgetCancel(raw).map(Canceller.init) }

    /// Cancels the connection's current statement from another thread.
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
    /// Nil if the answer has no SQLSTATE, as libpq generated the error for a broken connection, or if the error ended
    /// the session.
    init?(_ answer: Answer) {
        func field(_ code: Character) -> String? {
            code.asciiValue.flatMap { PQresultErrorField(answer.raw, Int32($0)) }.map { String(cString: $0) }
        }
        // the codes are the PG_DIAG_… macros of postgres_ext.h, which Swift does not import
        guard let sqlState = field("C"), let message = field("M") else { return nil }
        let severity = field("V")
        guard severity != "FATAL", severity != "PANIC" else { return nil }
        self.init(
            sqlState: sqlState, message: message, detail: field("D"), hint: field("H"), schema: field("s"),
            table: field("t"), column: field("c"), constraint: field("n"), routine: field("R"))
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
