import CLibPQ

extension Database {
    package struct Configuration: Sendable {
        /// A libpq URI or "keyword=value" string.
        ///
        /// Hosts (several are tried in turn), TLS and time-outs are libpq's; unless the string says otherwise, only a
        /// server that accepts writes will do.
        package var url: String
        /// Connections shared by single statements.
        ///
        /// Two serve all the reads that one reactor can; more let more writes share a flush of the log, as each
        /// connection commits one after the other.
        package var pipelined = 4
        /// Connections for transactions, and so the number of transactions at a time.
        package var transactions = 4
        /// Requests that may wait unsent before `.overloaded`.
        package var queueLimit = 4096
        /// From the call to the answer of one statement.
        package var deadline = Duration.seconds(5)
        /// What the server allows a single statement; below the deadline, so that the server's answer comes first.
        package var statementTimeout = Duration.seconds(4)
        package var lockTimeout = Duration.seconds(2)
        /// What the server allows a statement inside a transaction.
        package var transactionStatementTimeout = Duration.seconds(4)
        /// How long the server lets a transaction sit between two statements.
        package var transactionIdleTimeout = Duration.seconds(10)
        /// How long a caller waits for a connection for its transaction before `.overloaded`.
        package var leaseTimeout = Duration.seconds(2)

        package init(url: String) {
            self.url = url
        }

        /// Checks the URL's form only; quoted parts of libpq's complaint, which may be a password, are left out.
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

/// libpq ends its messages with a line feed, and writes one line per host it tried.
func oneLine(_ message: String) -> String {
    message.split(whereSeparator: \.isNewline)
        .map { $0.drop(while: \.isWhitespace) }
        .joined(separator: "; ")
}
