package enum PostgresError: Error, Sendable, Equatable {
    /// The queue of requests, or the queue for the connections of transactions, is full; nothing was executed.
    case overloaded
    /// There is no connection, and nothing was executed; the text is libpq's reason, on one line.
    case unavailable(String)
    /// The connection was lost before the answer; `maybeExecuted` is true if a write or a COMMIT may have been
    /// executed.
    case connectionLost(maybeExecuted: Bool)
    /// There was no answer before the deadline; a write may still be executed.
    case deadlineExceeded
    /// The calling task was cancelled; a write that had been sent may still be executed.
    case cancelled
    indirect case server(ServerError)
    /// The program and the schema do not match.
    case decoding(String)
    /// A value cannot be expressed in PostgreSQL's format; it was not sent.
    case encoding(String)
    case invalidConfiguration(String)
    case migration(String)
    case distribution(String)

    /// Whether the error is a violation of a unique constraint.
    package var isUniqueViolation: Bool { violates("unique constraint", sqlState: ServerError.uniqueViolation) }

    /// Whether the error is a violation of a foreign key, such as one to a row that has been deleted.
    package var isForeignKeyViolation: Bool {
        violates("foreign key constraint", sqlState: ServerError.foreignKeyViolation)
    }

    /// Whether a constraint of a kind is violated.
    ///
    /// If the row was copied to another node of a Citus cluster, the error has that node's message but not its SQLSTATE.
    private func violates(_ kind: String, sqlState: String) -> Bool {
        guard case .server(let error) = self else { return false }
        return error.sqlState == sqlState
            || (error.routine == Self.copyFailure && error.message.contains("violates \(kind)"))
    }

    /// Whether a node of a Citus cluster lost its connection to another node, or refused one.
    ///
    /// Citus reports some of these as internal errors, which only the C function that raised them tells from others.
    package var isLossOfNode: Bool {
        guard case .server(let error) = self, !isUniqueViolation, !isForeignKeyViolation else { return false }
        return error.sqlState.hasPrefix("08") || ["57P01", "57P02", "57P03"].contains(error.sqlState)
            || (error.sqlState == "XX000" && Self.routinesOfLostNodes.contains(error.routine ?? ""))
    }

    private static let copyFailure = "ReportCopyError"
    private static let routinesOfLostNodes: Set = [
        "ReportResultError", copyFailure, "MarkRemoteTransactionFailed", "CheckRemoteTransactionsHealth",
    ]

    /// Whether a retry may succeed: after a serialization failure, a deadlock or an unavailable lock.
    package var isRetryable: Bool {
        guard case .server(let error) = self else { return false }
        return ["40001", "40P01", "55P03"].contains(error.sqlState)
    }

    /// Whether the server could not run the statement, but may be able to run it later.
    ///
    /// The reasons are a lack of disk space or memory (class 53), a time limit or an administrator's command (57), a
    /// disk that fails (58), a server that accepts no writes (25006), and the loss of a node.
    package var isOutage: Bool {
        guard case .server(let error) = self else { return false }
        return isLossOfNode || ["53", "57", "58"].contains(error.sqlState.prefix(2)) || error.sqlState == "25006"
    }

    /// A description with the server's message, for statements that contain no values of people.
    var fault: String {
        guard case .server(let error) = self else { return description }
        return "\(error.sqlState) \(error.message)"
    }
}

/// The server's error for a failed statement; empty fields are nil.
package struct ServerError: Error, Sendable, Equatable {
    static let uniqueViolation = "23505"
    static let foreignKeyViolation = "23503"
    static let insufficientPrivilege = "42501"

    package var sqlState, message: String
    package var detail, hint, schema, table, column, constraint: String?
    /// The server's C function that raised the error, which alone distinguishes some errors if messages are translated.
    package var routine: String?
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    /// A description without values, because the server's messages and details may quote rows and parameters.
    package var description: String {
        switch self {
        case .overloaded: "too many database requests are waiting"
        case .unavailable(let reason): "the database cannot be reached: \(reason)"
        case .connectionLost(maybeExecuted: true): "the database connection was lost; the change may have been made"
        case .connectionLost(maybeExecuted: false): "the database connection was lost; nothing was changed"
        case .deadlineExceeded: "the database did not answer in time"
        case .cancelled: "the database request was cancelled"
        case .server(let error): error.description
        case .decoding(let fault): "unexpected column in a database answer: \(fault)"
        case .encoding(let fault): "value not fit for the database: \(fault)"
        case .invalidConfiguration(let fault): "invalid database URL: \(fault)"
        case .migration(let fault): "database migration: \(fault)"
        case .distribution(let fault): "distribution: \(fault)"
        }
    }

    package var debugDescription: String {
        guard case .server(let error) = self else { return description }
        return error.debugDescription
    }
}

extension ServerError: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String {
        let place = [("table", table), ("column", column), ("constraint", constraint)]
            .compactMap { name, value in value.map { " \(name)=\($0)" } }
        let advice =
            sqlState == Self.insufficientPrivilege
            ? ": the role may not do this; use the role that owns the database and its tables" : ""
        return "database error \(sqlState)" + place.joined() + advice
    }

    package var debugDescription: String {
        let parts = [("detail", detail), ("hint", hint), ("schema", schema), ("routine", routine)]
            .compactMap { name, value in value.map { " \(name)=\($0)" } }
        return "\(description): \(message)" + parts.joined()
    }
}
