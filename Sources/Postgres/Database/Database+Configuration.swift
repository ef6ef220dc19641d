import CLibPQ

extension Database {
    package struct Configuration: Sendable {
        /// A libpq URI or a string of `keyword=value` pairs.
        ///
        /// libpq tries its hosts in turn, with TLS and time-outs, by default for one that accepts writes.
        package var url: String
        /// The number of connections that single statements share.
        ///
        /// Two are enough for all the reads that one reactor can handle. With more, more writes share a flush of the
        /// write-ahead log, because each connection commits its writes one after the other.
        package var pipelined = 4
        /// The number of connections for transactions, and therefore of concurrent transactions.
        package var transactions = 4
        /// The number of unsent requests at which new ones fail with `.overloaded`.
        package var queueLimit = 4096
        /// The maximum time from the call of a statement to its answer.
        package var deadline = Duration.seconds(5)
        /// The server's time limit for a single statement, below `deadline` so that the server's error arrives first.
        package var statementTimeout = Duration.seconds(4)
        package var lockTimeout = Duration.seconds(2)
        /// The server's time limit for a statement in a transaction.
        package var transactionStatementTimeout = Duration.seconds(4)
        /// The server's limit for the idle time between two statements of a transaction.
        package var transactionIdleTimeout = Duration.seconds(10)
        /// How long a caller waits for a transaction's connection before the call fails with `.overloaded`.
        package var leaseTimeout = Duration.seconds(2)
        /// How long the server may take to answer a probe of a listening connection before it counts as lost.
        package var probeTimeout = Duration.milliseconds(600)

        package init(url: String) { self.url = url }

        /// Checks the URL; the error leaves out quoted parts of libpq's message, which may contain a password.
        package func validate() throws(PostgresError) {
            var complaint: UnsafeMutablePointer<CChar>?
            if let options = PQconninfoParse(url, &complaint) {
                PQconninfoFree(options)
                return
            }
            defer { PQfreemem(complaint) }
            let text = complaint.map { oneLine(String(cString: $0)) } ?? "out of memory"
            let unquoted = text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
                .map { index, part in index.isMultiple(of: 2) ? String(part) : "…" }
            throw .invalidConfiguration(unquoted.joined())
        }
    }
}

/// libpq ends its messages with a line feed and writes one line for each host that it tried.
func oneLine(_ message: String) -> String {
    message.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(separator: "; ")
}
