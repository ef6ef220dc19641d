internal import Accounts
internal import Foundation
internal import Postgres
internal import Synchronization

/// Gets rows for several callers with one statement for each group, such as an application.
///
/// Most of the cost of a short statement is the start of its plan: in a statement that reads sixteen users, each costs
/// a third of one that is read alone (PostgreSQL 15).
final class JoinedRows<Group: Hashable & Sendable, Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Calls = JoinedCalls<Key, Value>

    /// Gets the values of the keys with one statement.
    let values: @Sendable (_ keys: [Key], _ group: Group) async throws -> Calls.Answers
    private let crowd, most: Int
    private let limits: Database.Configuration
    private let groups = Mutex<[Group: Calls]>([:])

    /// `crowd` and `most` are those of `JoinedCalls`.
    init(
        crowd: Int, most: Int, limits: Database.Configuration,
        values: @escaping @Sendable (_ keys: [Key], _ group: Group) async throws -> Calls.Answers
    ) {
        (self.crowd, self.most, self.limits, self.values) = (crowd, most, limits, values)
    }

    func value(of key: Key, in group: Group) async throws -> Value? {
        try await calls(in: group).value(of: key)
    }

    private func calls(in group: Group) -> Calls {
        groups.withLock { groups in
            if let calls = groups[group] { return calls }
            // There may be any number of clients that register themselves.
            if groups.count >= 1000 { groups = groups.filter { !$0.value.isIdle } }
            // At most as many statements of a group as there are connections, and as many waiting calls as the
            // database's own queue allows.
            let calls = Calls(
                crowd: crowd, most: most, width: limits.pipelined, limit: limits.queueLimit, deadline: limits.deadline
            ) { [values] keys in
                try await values(keys, group)
            }
            groups[group] = calls
            return calls
        }
    }
}

extension JoinedRows where Group == Application.ID, Key == UUID {
    /// The statement reads the rows of the ids `$2`; its first column is the id.
    ///
    /// With 64 ids in a statement, each costs a fraction of a single read; more ids save little. With 16,
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
    let users: JoinedRows<Application.ID, UUID, User>
    let accountClaims: JoinedRows<Application.ID, UUID, (client: String, claims: AccountClaims)>
    let rotations: JoinedRows<FirstRotation.Terms, FirstRotation, SessionGrant>

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
