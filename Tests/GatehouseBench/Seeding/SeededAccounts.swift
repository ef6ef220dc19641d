import Accounts
import Foundation
import Postgres

/// Creates people for measurements in bulk, each with an account, identities, an address, a password and a session.
///
/// Every index and constraint stays in force, so a database in use can be seeded too. Ids ascend in the order of
/// writing, which keeps index updates cheap. A batch is written as a whole or not at all; repeating it adds only
/// missing people. Seeding writes no audit events and sends no messages.
struct SeededAccounts: Sendable {
    let database: Database
    let application: Application.ID
    let lifetimes: ApplicationPolicy.Tokens
    /// The provider of each person's first identity, which has the password, and the provider of the other identities.
    let providers: (password: String, other: String)
    let identitiesPerAccount: Int
    let password: PasswordHash
    let secrets: SeededSecrets

    private static let hasOthers = Statement(
        .read,
        """
        SELECT EXISTS (SELECT FROM accounts WHERE application_id = $1 AND uid < $2)
            OR EXISTS (SELECT FROM accounts WHERE application_id = $1 AND uid > $3)
        """)

    /// Whether the application has accounts that were not seeded.
    func hasOthers() async throws -> Bool {
        var row = try await database.first(
            Self.hasOthers, .int4(application.rawValue), .uuid(SeededPerson.first.uid), .uuid(SeededPerson.last.uid))
        return try row?.next() ?? false
    }

    private static let makeDue = Statement(
        .write,
        """
        WITH due AS (
            UPDATE accounts SET deleted_at = now(), purge_after = now()
             WHERE application_id = $1 AND uid BETWEEN $2 AND $3
            RETURNING application_id, uid)
        INSERT INTO erasures (application_id, receipt, uid, purge_after)
        SELECT application_id, gen_random_uuid(), uid, now() FROM due
        """)

    /// Marks all seeded accounts as deleted with an expired grace period.
    ///
    /// - Returns: the number of seeded accounts.
    static func makeDue(in application: Application.ID, of database: Database) async throws -> Int {
        try await database.execute(
            makeDue, .int4(application.rawValue), .uuid(SeededPerson.first.uid), .uuid(SeededPerson.last.uid)
        ).affected
    }

    /// Serialises seeders that run at once: the next statement of the second one sees what the first one has written.
    private static let lock = Statement(.write, "SELECT true FROM (SELECT pg_advisory_xact_lock($1, $2)) AS locked")

    private static let selectPresent = Statement(
        .read, "SELECT uid FROM accounts WHERE application_id = $1 AND uid BETWEEN $2 AND $3")

    /// - Returns: the number of people who were missing.
    func add(_ numbers: ClosedRange<Int>) async throws -> Int {
        let (first, last) = (SeededPerson(numbers.lowerBound), SeededPerson(numbers.upperBound))
        return try await database.transaction { transaction in
            let place = Int32(truncatingIfNeeded: numbers.lowerBound)
            _ = try await transaction.execute(Self.lock, .int4(application.rawValue), .int4(place))
            var present: Set<UUID> = []
            for var row in try await transaction.execute(
                Self.selectPresent, .int4(application.rawValue), .uuid(first.uid), .uuid(last.uid))
            {
                present.insert(try row.next())
            }
            let missing = numbers.lazy.map(SeededPerson.init).filter { !present.contains($0.uid) }
            guard !missing.isEmpty else { return 0 }
            for (statement, binds) in inserts(of: Array(missing)) {
                _ = try await transaction.execute(statement, [.int4(application.rawValue)] + binds)
            }
            return missing.count
        }
    }

    /// Updates the planner's statistics, which don't include the new rows.
    func analyze() async throws {
        try await database.transaction { transaction in
            try await transaction.script(
                """
                SET LOCAL statement_timeout = 0;
                ANALYZE accounts, identities, addresses, passwords, sessions, refresh_tokens
                """)
        }
    }
}

extension SeededAccounts {
    private static let insertAccounts = Statement(
        .write,
        """
        INSERT INTO accounts (application_id, uid, display_name, audit_key)
        SELECT $1, uid, name, key FROM unnest($2, $3, $4) AS people (uid, name, key)
        """)

    private static let insertIdentities = Statement(
        .write,
        """
        INSERT INTO identities (application_id, id, uid, provider, provider_uid, email, email_verified, display_name,
                                last_used_at)
        SELECT $1, id, uid, $2, subject, email, true, name, now()
          FROM unnest($3, $4, $5, $6, $7) AS people (id, uid, subject, email, name)
        """)

    private static let insertAddresses = Statement(
        .write,
        """
        INSERT INTO addresses (application_id, kind, address, uid)
        SELECT $1, 'email', email, uid FROM unnest($2, $3) AS people (email, uid)
        """)

    private static let insertPasswords = Statement(
        .write,
        "INSERT INTO passwords (application_id, identity_id, hash) SELECT $1, id, $2 FROM unnest($3) AS people (id)")

    private static let insertSessions = Statement(
        .write,
        """
        INSERT INTO sessions (application_id, id, uid, identity_id, methods, device, expires_at)
        SELECT $1, id, uid, identity, '{pwd}', 'gatehouse bench', now() + $2
          FROM unnest($3, $4, $5) AS people (id, uid, identity)
        """)

    private static let insertTokens = Statement(
        .write,
        """
        INSERT INTO refresh_tokens (application_id, hash, session_id, expires_at)
        SELECT $1, hash, session, now() + $2 FROM unnest($3, $4) AS people (hash, session)
        """)

    /// Returns the statements in the order of their foreign keys.
    ///
    /// The first bind of each is the application.
    private func inserts(of people: [SeededPerson]) -> [(Statement, [Bind])] {
        let (uids, firstIDs) = (Bind.uuids(people.map(\.uid)), Bind.uuids(people.map { $0.identityID(1) }))
        let (emails, names) = (Bind.texts(people.map(\.email)), Bind.texts(people.map(\.displayName)))
        let sessions = Bind.uuids(people.map(\.sessionID))
        let keys = Bind.bytesArray(people.map { _ in SystemRandom.bytes(32) })
        let tokens = Bind.bytesArray(people.map { secrets.refreshToken(of: $0).hash })
        let others = (1..<max(1, identitiesPerAccount)).map { index in
            let ids = Bind.uuids(people.map { $0.identityID(index + 1) })
            let subjects = Bind.texts(people.map { $0.subject(index + 1) })
            return (Self.insertIdentities, [Bind.text(providers.other), ids, uids, subjects, emails, names])
        }
        let refreshable = min(lifetimes.refreshLifetime, lifetimes.sessionLifetime)
        return [
            (Self.insertAccounts, [uids, names, keys]),
            (Self.insertIdentities, [.text(providers.password), firstIDs, uids, emails, emails, names]),
        ] + others + [
            (Self.insertAddresses, [emails, uids]),
            (Self.insertPasswords, [.text(password.phc), firstIDs]),
            (Self.insertSessions, [.interval(lifetimes.sessionLifetime), sessions, uids, firstIDs]),
            (Self.insertTokens, [.interval(refreshable), tokens, sessions]),
        ]
    }
}
