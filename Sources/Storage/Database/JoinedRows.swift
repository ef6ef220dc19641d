internal import Accounts
internal import Foundation
internal import Postgres
internal import Synchronization

/// Gets rows for several callers with one statement for each application.
///
/// Most of the cost of a short statement is the start of its plan: in a statement that reads sixteen users, each costs
/// a third of one that is read alone (PostgreSQL 15).
final class JoinedRows<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Calls = JoinedCalls<Key, Value>

    /// Gets the values of the keys with one statement.
    let values: @Sendable (_ keys: [Key], _ application: Application.ID) async throws -> Calls.Answers
    private let crowd, most: Int
    private let limits: Database.Configuration
    private let applications = Mutex<[Application.ID: Calls]>([:])

    /// `crowd` and `most` are those of `JoinedCalls`.
    init(
        crowd: Int, most: Int, limits: Database.Configuration,
        values: @escaping @Sendable (_ keys: [Key], _ application: Application.ID) async throws -> Calls.Answers
    ) {
        (self.crowd, self.most, self.limits, self.values) = (crowd, most, limits, values)
    }

    func value(of key: Key, application: Application.ID) async throws -> Value? {
        try await calls(in: application).value(of: key)
    }

    private func calls(in application: Application.ID) -> Calls {
        applications.withLock { applications in
            if let calls = applications[application] { return calls }
            // At most as many statements as there are connections, and as many waiting calls as the database's own
            // queue allows.
            let calls = Calls(
                crowd: crowd, most: most, width: limits.pipelined, limit: limits.queueLimit, deadline: limits.deadline
            ) { [values] keys in
                try await values(keys, application)
            }
            applications[application] = calls
            return calls
        }
    }
}

extension JoinedRows where Key == UUID {
    /// The statement reads the rows of the ids `$2`; its first column is the id.
    ///
    /// With 64 ids in a statement, each costs a fraction of a single read, and with more hardly less. With 16,
    /// `GET /auth/me` took twice as much of PostgreSQL's processor time.
    convenience init(
        _ statement: Statement, from database: Database, decode: @escaping @Sendable (Row) throws -> Value
    ) {
        self.init(crowd: 64, most: .max, limits: database.configuration) { ids, application in
            let rows = try await database.run(statement, [.application(application), .uuids(ids)])
            let values = try rows.map { row in
                var key = row
                return (try key.next(UUID.self), Result { try decode(row) })
            }
            return Dictionary(values) { first, _ in first }
        }
    }
}

/// The statements that concurrent calls share.
struct SharedStatements: Sendable {
    let users: JoinedRows<UUID, User>
    let accountClaims: JoinedRows<UUID, (client: String, claims: AccountClaims)>
    let rotations: JoinedRows<FirstRotation, SessionGrant>

    init(from database: Database) {
        users = JoinedRows(JoinedUsers.select, from: database) { try $0.user() }
        accountClaims = JoinedRows(SQLStore.selectAccountClaims, from: database) { row in
            var row = row
            _ = try row.next(UUID.self)
            return try row.nextClientAccount()
        }
        rotations = FirstRotation.joined(from: database)
    }
}
