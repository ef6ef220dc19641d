internal import Accounts
internal import Foundation
internal import Postgres
internal import Synchronization

/// Reads rows of several callers with one statement for each application.
///
/// Most of the cost of reading one user is the start of the statement's plan: in a statement that reads sixteen, each
/// costs a third as much (PostgreSQL 15).
final class JoinedRows<Value: Sendable>: Sendable {
    typealias Reads = JoinedReads<UUID, Value>

    /// Reads the rows of the ids with one statement.
    let values: @Sendable (_ ids: [UUID], _ application: Application.ID) async throws -> Reads.Answers
    private let limits: Database.Configuration
    private let applications = Mutex<[Application.ID: Reads]>([:])

    /// The statement reads the rows of the ids `$2` in the application `$1`; its first column is the id.
    init(_ statement: Statement, from database: Database, decode: @escaping @Sendable (Row) throws -> Value) {
        limits = database.configuration
        values = { ids, application in
            let rows = try await database.run(statement, [.application(application), .uuids(ids)])
            let values = try rows.map { row in
                var key = row
                return (try key.next(UUID.self), Result { try decode(row) })
            }
            return Dictionary(values) { first, _ in first }
        }
    }

    func value(of id: UUID, application: Application.ID) async throws -> Value? {
        try await reads(in: application).value(of: id)
    }

    private func reads(in application: Application.ID) -> Reads {
        applications.withLock { applications in
            if let reads = applications[application] { return reads }
            // At most as many statements as there are connections, and as many waiting calls as the database's own
            // queue allows.
            let reads = Reads(width: limits.pipelined, limit: limits.queueLimit) { [values] ids in
                try await values(ids, application)
            }
            applications[application] = reads
            return reads
        }
    }
}

/// The reads that concurrent calls share.
struct SharedReads: Sendable {
    let users: JoinedRows<User>
    let accountClaims: JoinedRows<(client: String, claims: AccountClaims)>

    init(from database: Database) {
        users = JoinedRows(JoinedUsers.select, from: database) { try $0.user() }
        accountClaims = JoinedRows(SQLStore.selectAccountClaims, from: database) { row in
            var row = row
            _ = try row.next(UUID.self)
            return try row.nextClientAccount()
        }
    }
}
