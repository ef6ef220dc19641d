package import Accounts
internal import Foundation
package import Postgres
internal import Synchronization

/// Implements the ports of `Accounts` in PostgreSQL.
///
/// Each extension has the SQL of one subject and conforms to that subject's ports. Outside a transaction, every
/// statement takes one round trip. In a transaction, a statement whose result the caller does not need is sent without
/// waiting (`OpenTransaction`).
///
/// Values enter statements only as binds. A statement that relies on rows read earlier repeats their values in its
/// conditions. It returns no row if they have changed, which becomes a `StoreConflict`; a violated constraint becomes
/// one too.
package struct SQLStore: TransactionalStore {
    private let database: Database
    /// `nil` outside a transaction.
    private let open: OpenTransaction?
    /// The statements that concurrent calls share; not used in a transaction.
    let joined: SharedStatements
    let sealing: any Sealing
    /// Consulted for each event, because the configuration can be reloaded.
    let subscriptions: any WebhookSubscriptions
    /// Called for each change that other parts of the server react to; for a transaction, after it has committed.
    let onChange: @Sendable (CommittedChange) -> Void

    package init(
        database: Database, sealing: any Sealing, subscriptions: any WebhookSubscriptions, revocations: RevocationList,
        statistics: Statistics = Statistics()
    ) {
        let arrivals = OutboxArrivals(database: database)
        self.init(
            database: database, open: nil, joined: SharedStatements(from: database), sealing: sealing,
            subscriptions: subscriptions
        ) { change in
            switch change {
            case .revoked(let revocation): revocations.note(revocation)
            case .queued: arrivals.announce()
            case .counted(let statistic, let label, let application):
                statistics.count(statistic, label: label, in: application)
            }
        }
    }

    private init(
        database: Database, open: OpenTransaction?, joined: SharedStatements, sealing: any Sealing,
        subscriptions: any WebhookSubscriptions, onChange: @escaping @Sendable (CommittedChange) -> Void
    ) {
        self.database = database
        self.open = open
        self.joined = joined
        self.sealing = sealing
        self.subscriptions = subscriptions
        self.onChange = onChange
    }

    package func transaction<Output: Sendable>(
        _ body: @Sendable (SQLStore) async throws -> Output
    ) async throws -> Output {
        try await transaction(statementLimit: nil, body)
    }

    /// Runs a transaction whose statements may each take `limit`, if that is longer than usual.
    func transaction<Output: Sendable>(
        statementLimit limit: Duration?, _ body: @Sendable (SQLStore) async throws -> Output
    ) async throws -> Output {
        guard open == nil else { return try await body(self) }
        let (result, changes) = try await retryingUnderContention {
            let changes = CommittedChanges()
            let result = try await translatingErrors {
                try await database.transaction(statementLimit: limit) { transaction in
                    let open = OpenTransaction(transaction)
                    let result = try await body(
                        SQLStore(
                            database: database, open: open, joined: joined, sealing: sealing,
                            subscriptions: subscriptions, onChange: changes.append))
                    try await open.finish()
                    return result
                }
            }
            return (result, changes.all)
        }
        changes.forEach(onChange)
        return result
    }

    /// Runs a statement and waits for its answer.
    func run(_ statement: Statement, _ binds: [Bind]) async throws -> Rows {
        guard let open else { return try await database.run(statement, binds) }
        return try await translatingErrors { try await open.run(statement, binds) }
    }

    /// Runs several statements in one round trip of a transaction.
    func run(_ calls: [(statement: Statement, binds: [Bind])]) async throws -> [Rows] {
        guard let open else { return try await transaction { try await $0.run(calls) } }
        return try await translatingErrors { try await open.run(calls) }
    }

    /// Runs a statement and returns the first row.
    ///
    /// - Throws: `StoreConflict` if there is no row.
    func one(_ statement: Statement, _ binds: [Bind]) async throws -> Row {
        try await run(statement, binds).firstOrConflict()
    }

    /// Runs a statement whose result the caller does not need.
    ///
    /// In a transaction, returns without waiting, and a later call or the commit throws the errors of the statement and
    /// of `check`.
    func write(
        _ statement: Statement, _ binds: [Bind], check: @escaping OpenTransaction.Check = { _ in }
    ) async throws {
        if let open {
            try await translatingErrors { try open.send(statement, binds, check: check) }
        } else {
            try await check(run(statement, binds))
        }
    }

    /// Works as `write`, but throws a `StoreConflict` if the statement returns no row.
    func writeOrConflict(_ statement: Statement, _ binds: [Bind]) async throws {
        try await write(statement, binds) { _ = try $0.firstOrConflict() }
    }

    var isInTransaction: Bool { open != nil }
}

/// A change that other parts of the server react to.
enum CommittedChange: Sendable {
    /// A session was ended or renewed.
    case revoked(SessionRevocation)
    /// A message, an event or a revocation of provider tokens was queued.
    case queued
    /// Something happened that the statistics count, under the label, which is empty if the number has no parts.
    case counted(Statistic, String, Application.ID)
}

extension SQLStore {
    /// Counts something; in a transaction, once it has committed.
    func count(_ statistic: Statistic, label: String = "", in application: Application.ID) {
        onChange(.counted(statistic, label, application))
    }
}

/// The changes that a transaction has made so far.
private final class CommittedChanges: Sendable {
    private let changes = Mutex<[CommittedChange]>([])

    var all: [CommittedChange] { changes.withLock { $0 } }

    @Sendable func append(_ change: CommittedChange) {
        changes.withLock { $0.append(change) }
    }
}

extension Database {
    /// Runs a statement outside a transaction, and retries it while other transactions hold locks that it needs.
    ///
    /// Reads need this too: a migration that changes a table excludes them, and can deadlock with them.
    func run(_ statement: Statement, _ binds: [Bind]) async throws -> Rows {
        try await retryingUnderContention { try await once(statement, binds) }
    }

    /// Runs a statement outside a transaction, without retrying it.
    @discardableResult
    func once(_ statement: Statement, _ binds: [Bind] = []) async throws -> Rows {
        try await translatingErrors { try await execute(statement, binds) }
    }
}

/// Translates PostgreSQL's errors into those of `Accounts`, and rethrows errors that have no counterpart.
func translatingErrors<Output>(_ body: () async throws -> Output) async throws -> Output {
    do { return try await body() } catch let error as PostgresError { throw translated(error) }
}

private func translated(_ error: PostgresError) -> any Error {
    switch error {
    case .overloaded: AccountsError.overloaded(retryAfter: .seconds(1))
    case .unavailable, .connectionLost, .deadlineExceeded,
        .server where error.isOutage:
        AccountsError.unavailable(reason: "\(error)")
    case .cancelled: CancellationError()
    case .server where error.isRetryable: StoreConflict(isTransient: true)
    case .server where error.isUniqueViolation || error.isForeignKeyViolation: StoreConflict()
    default: error
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
