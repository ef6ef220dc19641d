package import Accounts
internal import Foundation
package import Postgres
internal import Synchronization

/// Implements the ports of `Accounts` in PostgreSQL.
///
/// Each extension has the SQL of one subject and conforms to that subject's ports. Every statement takes one round
/// trip.
///
/// Values enter statements only as binds. A statement that relies on rows read earlier repeats their values in its
/// conditions. It returns no row if they have changed, which becomes a `StoreConflict`; a violated constraint becomes
/// one too.
package struct SQLStore: TransactionalStore {
    private let database: Database
    private let executor: any Executor
    let sealing: any Sealing
    /// Consulted for each event, because the configuration can be reloaded.
    let subscriptions: any WebhookSubscriptions
    /// Called for each session that a statement ended or renewed; for a transaction, after it has committed.
    let onRevoked: @Sendable (SessionRevocation) -> Void
    /// Batches reads of users; `nil` in a transaction.
    let joinedUsers: JoinedUsers?

    package init(
        database: Database, sealing: any Sealing, subscriptions: any WebhookSubscriptions, revocations: RevocationList
    ) {
        self.init(
            database: database, executor: database, joinedUsers: JoinedUsers(database: database), sealing: sealing,
            subscriptions: subscriptions, onRevoked: revocations.note)
    }

    private init(
        database: Database, executor: any Executor, joinedUsers: JoinedUsers?, sealing: any Sealing,
        subscriptions: any WebhookSubscriptions, onRevoked: @escaping @Sendable (SessionRevocation) -> Void
    ) {
        self.database = database
        self.executor = executor
        self.joinedUsers = joinedUsers
        self.sealing = sealing
        self.subscriptions = subscriptions
        self.onRevoked = onRevoked
    }

    package func transaction<Result: Sendable>(
        _ body: @Sendable (SQLStore) async throws -> Result
    ) async throws -> Result {
        let isTransaction = joinedUsers == nil
        guard !isTransaction else { return try await body(self) }
        let (result, revoked) = try await retryingUnderContention {
            let revoked = RevokedSessions()
            let result = try await translatingErrors {
                try await database.transaction { transaction in
                    try await body(
                        SQLStore(
                            database: database, executor: transaction, joinedUsers: nil, sealing: sealing,
                            subscriptions: subscriptions, onRevoked: revoked.append))
                }
            }
            return (result, revoked.all)
        }
        revoked.forEach(onRevoked)
        return result
    }

    /// Runs a statement.
    ///
    /// Outside a transaction, retries the statement while other transactions hold locks on the rows.
    func run(_ statement: Statement, _ binds: [Bind]) async throws -> Rows {
        let isTransaction = joinedUsers == nil
        guard !isTransaction else {
            return try await translatingErrors { try await executor.execute(statement, binds) }
        }
        return try await retryingUnderContention {
            try await translatingErrors { try await executor.execute(statement, binds) }
        }
    }

    /// Runs a statement and returns the first row.
    ///
    /// - Throws: `StoreConflict` if there is no row.
    func one(_ statement: Statement, _ binds: [Bind]) async throws -> Row {
        try await run(statement, binds).firstOrConflict()
    }
}

/// The sessions that a transaction has ended or renewed so far.
private final class RevokedSessions: Sendable {
    private let revocations = Mutex<[SessionRevocation]>([])

    var all: [SessionRevocation] { revocations.withLock { $0 } }

    @Sendable func append(_ revocation: SessionRevocation) {
        revocations.withLock { $0.append(revocation) }
    }
}

/// Translates PostgreSQL's errors into those of `Accounts`, and rethrows errors that have no counterpart.
func translatingErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
        return try await body()
    } catch let error as PostgresError {
        switch error {
        case .overloaded:
            throw AccountsError.overloaded(retryAfter: .seconds(1))
        case .unavailable, .connectionLost, .deadlineExceeded:
            throw AccountsError.unavailable
        case .cancelled:
            throw CancellationError()
        case .server where error.isRetryable:
            throw StoreConflict(isTransient: true)
        case .server where error.isUniqueViolation() || error.isForeignKeyViolation:
            throw StoreConflict()
        default:
            throw error
        }
    }
}

extension Row {
    /// The next two columns, `is_disabled` and `purge_after`.
    mutating func nextStatus() throws -> AccountStatus {
        let isDisabled: Bool = try next()
        let purgeAfter: Date? = try next()
        if isDisabled { return .disabled(isDeleted: purgeAfter != nil) }
        return purgeAfter.map { .deleted(purgeAfter: $0) } ?? .live
    }
}

extension Rows {
    /// The first row.
    ///
    /// - Throws: `StoreConflict` if there is none, because the rows have changed.
    func firstOrConflict() throws -> Row {
        guard let first else { throw StoreConflict() }
        return first
    }
}
