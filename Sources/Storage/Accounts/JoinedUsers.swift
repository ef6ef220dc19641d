internal import Accounts
internal import Foundation
internal import Postgres
internal import Synchronization

/// Reads users of several callers with one statement.
///
/// Most of the cost of reading one user is the start of the plan of the `users` view: in a statement that reads
/// sixteen, each costs a third as much (PostgreSQL 15).
final class JoinedUsers: Sendable {
    static let select = Statement(
        .read,
        """
        SELECT uid, email, phone, display_name, is_anonymous, providers, metadata::text, created_at, updated_at
          FROM users
         WHERE application_id = $1 AND uid = ANY ($2) AND purge_after IS NULL
        """)

    private let database: Database
    private let applications = Mutex<[Application.ID: JoinedReads<UUID, User>]>([:])

    init(database: Database) {
        self.database = database
    }

    func user(_ uid: UUID, application: Application.ID) async throws -> User? {
        try await reads(in: application).value(of: uid)
    }

    private func reads(in application: Application.ID) -> JoinedReads<UUID, User> {
        applications.withLock { applications in
            if let reads = applications[application] { return reads }
            // At most as many statements as there are connections, and as many waiting calls as the database's own
            // queue allows.
            let limits = database.configuration
            let reads = JoinedReads<UUID, User>(width: limits.pipelined, limit: limits.queueLimit) { [database] uids in
                try await Self.users(uids, application: application, from: database)
            }
            applications[application] = reads
            return reads
        }
    }

    /// Reads the requested users with one statement.
    static func users(
        _ uids: [UUID], application: Application.ID, from database: Database
    ) async throws -> JoinedReads<UUID, User>.Answers {
        let rows = try await database.execute(select, [.application(application), .uuids(uids)])
        let users = try rows.map { row in
            var key = row
            return (try key.next(UUID.self), Result { try row.user() })
        }
        return Dictionary(users) { first, _ in first }
    }
}
