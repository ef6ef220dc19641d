package import Accounts
internal import Foundation
package import Postgres

/// People to measure with, in bulk: accounts with identities, an address, a password, and a session each.
///
/// They are written by COPY with every index and constraint in force, so that a database that serves can be seeded too;
/// ids in the order of writing keep that cheap. A batch is there as a whole or not at all, and one that is asked for again
/// gets what is missing of it. Nothing is audited and nobody is notified.
package struct SeededAccounts: Sendable {
    /// What all of an application's seeded people share.
    package struct Terms: Sendable {
        package let application: Application.ID
        /// Whose first identities have the password, and whose all others are.
        package let providers: (password: String, other: String)
        package let identitiesPerAccount: Int
        package let password: PasswordHash
        package let lifetimes: ApplicationPolicy.Tokens
        /// The refresh token of somebody's session, by its hash.
        package let token: @Sendable (SeededPerson) -> OpaqueToken

        package init(
            application: Application.ID, providers: (password: String, other: String), identitiesPerAccount: Int,
            password: PasswordHash, lifetimes: ApplicationPolicy.Tokens,
            token: @escaping @Sendable (SeededPerson) -> OpaqueToken
        ) {
            self.application = application
            self.providers = providers
            self.identitiesPerAccount = identitiesPerAccount
            self.password = password
            self.lifetimes = lifetimes
            self.token = token
        }
    }

    private let database: Database
    private let terms: Terms

    package init(database: Database, terms: Terms) {
        self.database = database
        self.terms = terms
    }

    private static let hasOthers = Statement(
        .read,
        """
        SELECT EXISTS (SELECT FROM accounts WHERE application_id = $1 AND uid < $2)
            OR EXISTS (SELECT FROM accounts WHERE application_id = $1 AND uid > $3)
        """)

    /// Whether the application has accounts that were not seeded.
    package func hasOthers() async throws -> Bool {
        let uids = SeededPerson.uids
        var row = try await database.execute(
            Self.hasOthers, [.application(terms.application), .uuid(uids.first), .uuid(uids.last)]
        ).firstOrConflict()
        return try row.next()
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

    /// All who were seeded have asked to be deleted, and their grace period is over.
    ///
    /// - Returns: how many they are.
    package static func makeDue(in application: Application.ID, of database: Database) async throws -> Int {
        let uids = SeededPerson.uids
        return try await database.execute(
            makeDue, [.application(application), .uuid(uids.first), .uuid(uids.last)]
        ).affected
    }

    /// Two seeders at once share the work; the second one's next statement sees what the first has written.
    private static let lock = Statement(
        .write, "SELECT now() FROM (SELECT pg_advisory_xact_lock($1, $2)) AS locked")

    private static let selectPresent = Statement(
        .read, "SELECT uid FROM accounts WHERE application_id = $1 AND uid BETWEEN $2 AND $3")

    /// - Returns: how many of them were missing.
    package func add(_ numbers: ClosedRange<Int>) async throws -> Int {
        let (first, last) = (SeededPerson(numbers.lowerBound), SeededPerson(numbers.upperBound))
        return try await database.transaction { transaction in
            let place = Int32(truncatingIfNeeded: numbers.lowerBound)
            var row = try await transaction.execute(Self.lock, [.application(terms.application), .int4(place)])
                .firstOrConflict()
            let now: Date = try row.next()
            let present = Set(
                try await transaction.execute(
                    Self.selectPresent, [.application(terms.application), .uuid(first.uid), .uuid(last.uid)]
                ).map { row in
                    var row = row
                    return try row.next(UUID.self)
                })
            let missing = numbers.lazy.map(SeededPerson.init).filter { !present.contains($0.uid) }
            guard !missing.isEmpty else { return 0 }
            var batch = SeededBatch(terms: terms, now: now)
            for person in missing { batch.append(person) }
            for (statement, rows) in batch.tables { _ = try await transaction.copy(rows, by: statement) }
            return batch.count
        }
    }

    /// The planner knows nothing of rows that have just come.
    package func analyze() async throws {
        try await database.transaction { transaction in
            try await transaction.script(
                """
                SET LOCAL statement_timeout = 0;
                ANALYZE accounts, identities, addresses, passwords, sessions, refresh_tokens
                """)
        }
    }
}
