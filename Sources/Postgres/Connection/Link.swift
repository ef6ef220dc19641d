import CLibPQ

/// A libpq connection, closed with its last reference.
///
/// Made by the connector, then touched by the reactor alone.
final class Link: @unchecked Sendable {
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) {
        self.raw = raw
        // libpq would print notices on standard error
        PQsetNoticeReceiver(raw, { _, _ in }, nil)
    }

    deinit {
        PQfinish(raw)
    }

    var complaint: String {
        let text = oneLine(String(cString: PQerrorMessage(raw)))
        return text.isEmpty ? "the connection was closed" : text
    }

    func canceller() -> Canceller? {
        PQgetCancel(raw).map(Canceller.init)
    }

    /// What it takes to cancel from another thread while the connection is in use.
    final class Canceller: @unchecked Sendable {
        private let raw: OpaquePointer

        init(_ raw: OpaquePointer) {
            self.raw = raw
        }

        deinit {
            PQfreeCancel(raw)
        }

        /// Blocks until the server has passed the signal on.
        func cancel() {
            var complaint = [CChar](repeating: 0, count: 256)
            PQcancel(raw, &complaint, Int32(complaint.count))
        }
    }
}

extension ServerError {
    /// Nil when libpq itself made up the error, which it does for a broken connection.
    init?(_ answer: Answer) {
        func field(_ code: Character) -> String? {
            code.asciiValue.flatMap { PQresultErrorField(answer.raw, Int32($0)) }.map { String(cString: $0) }
        }
        // the codes are postgres_ext.h's PG_DIAG_…, macros of character literals which Swift does not import
        guard let sqlState = field("C"), let message = field("M") else { return nil }
        let severity = field("V")
        guard severity != "FATAL", severity != "PANIC" else { return nil }
        self.init(
            sqlState: sqlState, message: message, detail: field("D"), hint: field("H"), schema: field("s"),
            table: field("t"), column: field("c"), constraint: field("n"), routine: field("R"))
    }
}

extension Database {
    /// Whether the server accepts connections, also if it would refuse this one.
    ///
    /// Blocks until the server has answered or cannot be reached.
    package static func isReady(url: String) -> Bool {
        PQping(url) == PQPING_OK
    }

    /// Runs one statement outside any transaction, such as CREATE DATABASE, on a new connection.
    ///
    /// Blocks until the server has answered.
    package static func runAlone(_ sql: String, url: String) throws(PostgresError) {
        guard let raw = PQconnectdb(url) else { throw .unavailable("out of memory") }
        let link = Link(owning: raw)
        guard PQstatus(raw) == CONNECTION_OK, let result = PQexec(raw, sql) else { throw .unavailable(link.complaint) }
        let answer = Answer(owning: result)
        guard answer.isError else { return }
        throw ServerError(answer).map { .server($0) } ?? .unavailable(link.complaint)
    }
}
