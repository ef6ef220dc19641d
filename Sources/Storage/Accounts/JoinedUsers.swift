internal import Accounts
internal import Foundation
internal import Postgres
internal import Synchronization

/// Reads users of several callers with one statement.
///
/// Most of the cost of reading one user is the start of the statement's plan: in a statement that reads sixteen, each
/// costs a third as much (PostgreSQL 15).
final class JoinedUsers: Sendable {
    /// The accounts of the application `$1`, each with its oldest verified addresses and its providers by age.
    ///
    /// A part of statements instead of a view, because Citus finds the node that stores the rows only if each table is
    /// compared with `$1` itself.
    static let users: StaticString = """
        accounts a
        CROSS JOIN LATERAL (
            SELECT (SELECT d.address FROM addresses d
                     WHERE d.application_id = $1 AND d.uid = a.uid AND d.kind = 'email'
                     ORDER BY d.verified_at, d.address LIMIT 1) AS email,
                   (SELECT d.address FROM addresses d
                     WHERE d.application_id = $1 AND d.uid = a.uid AND d.kind = 'phone'
                     ORDER BY d.verified_at, d.address LIMIT 1) AS phone,
                   coalesce(array_agg(p.provider ORDER BY p.since, p.provider), '{}') AS providers,
                   coalesce(bool_and(p.is_guest), false) AS is_anonymous
              FROM (SELECT i.provider, min(i.created_at) AS since, bool_and(i.is_guest) AS is_guest
                      FROM identities i
                     WHERE i.application_id = $1 AND i.uid = a.uid
                     GROUP BY i.provider) p) u
        """

    static let select = Statement(
        .read,
        """
        SELECT a.uid, u.email, u.phone, a.display_name, u.is_anonymous, u.providers, a.metadata::text, a.created_at,
               a.updated_at
          FROM
        """, users,
        """
         WHERE a.application_id = $1 AND a.uid = ANY ($2) AND a.purge_after IS NULL
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
        let rows = try await database.run(select, [.application(application), .uuids(uids)])
        let users = try rows.map { row in
            var key = row
            return (try key.next(UUID.self), Result { try row.user() })
        }
        return Dictionary(users) { first, _ in first }
    }
}
