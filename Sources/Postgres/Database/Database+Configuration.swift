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

        /// Checks the URL, also for what libpq would refuse only when it connects.
        ///
        /// The error leaves out what libpq quotes, because a password that is not percent-encoded is read as a port, a
        /// host or the name of the database.
        package func validate() throws(PostgresError) {
            var complaint: UnsafeMutablePointer<CChar>?
            guard let options = PQconninfoParse(url, &complaint) else {
                defer { PQfreemem(complaint) }
                let text = complaint.map { oneLine(String(cString: $0)) } ?? "out of memory"
                throw .invalidConfiguration("\(Self.withoutQuotes(text)); \(Self.encoding)")
            }
            defer { PQconninfoFree(options) }
            var option = options
            while let keyword = option.pointee.keyword {
                if let value = option.pointee.val,
                    let fault = Self.fault(of: String(cString: keyword), String(cString: value))
                {
                    throw .invalidConfiguration(fault)
                }
                option += 1
            }
            guard !hasPasswordInPath else {
                throw .invalidConfiguration("there is an `@` behind a `/`; \(Self.encoding)")
            }
        }

        private static let encoding = "a password in it has to be percent-encoded: `/` as %2F, `@` as %40, `%` as %25"

        /// The values of options that libpq checks only when it connects.
        private static let choices: [String: [String]] = [
            "sslmode": ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"],
            "channel_binding": ["disable", "prefer", "require"],
            "gssencmode": ["disable", "prefer", "require"],
            "target_session_attrs": ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"],
        ]

        /// What is wrong with the value of an option, if anything; `host` and `port` may be lists.
        private static func fault(of keyword: String, _ value: String) -> String? {
            let elements = value.split(separator: ",", omittingEmptySubsequences: false)
            switch keyword {
            case "port":
                guard !elements.allSatisfy({ $0.isEmpty || (UInt16($0) ?? 0) > 0 }) else { return nil }
                return "the port is not a number from 1 to 65535; \(encoding)"
            case "host":
                // A host that begins with `/` or `@` is a socket.
                let isHost = elements.allSatisfy { host in
                    host.hasPrefix("/") || !host.dropFirst().contains { $0 == "@" || $0 == "/" }
                }
                return isHost ? nil : "the host contains `@` or `/`; \(encoding)"
            case "connect_timeout" where Int32(value) == nil: return "connect_timeout is not a number"
            default:
                guard let choices = choices[keyword], !choices.contains(value) else { return nil }
                return "\(keyword) is not one of \(choices.joined(separator: ", "))"
            }
        }

        /// Whether the part before the options has an `@` after a `/`, which a password may have moved there.
        private var hasPasswordInPath: Bool {
            guard let scheme = url.firstRange(of: "://") else { return false }
            let place = url[scheme.upperBound...].prefix { $0 != "?" }
            return place.drop { $0 != "/" }.contains("@")
        }

        /// The text with everything between the first and the last quotation mark replaced.
        private static func withoutQuotes(_ text: String) -> String {
            guard let first = text.firstIndex(of: "\""), let last = text.lastIndex(of: "\"") else { return text }
            return text[..<first] + "…" + text[text.index(after: last)...]
        }
    }
}

/// libpq ends its messages with a line feed and writes one line for each host that it tried.
func oneLine(_ message: String) -> String {
    message.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(separator: "; ")
}
