package import Accounts
package import Foundation
package import Postgres
package import ProviderKit

extension SQLStore: AccountLocks, OwnerContactStore, ProfileStore, AccountDetailStore {
    /// Outside a transaction, one statement reads the users of all concurrent calls.
    package func user(_ uid: UUID, application: Application.ID) async throws -> User? {
        if isInTransaction {
            try await run(JoinedUsers.select, [.application(application), .uuids([uid])]).first?.user()
        } else {
            try await translatingErrors { try await joined.users.value(of: uid, in: application) }
        }
    }

    private static let selectIdentityProfile = Statement(
        .read,
        """
        SELECT i.profile::text
          FROM sessions s
          JOIN identities i ON i.application_id = $1 AND i.id = s.identity_id
         WHERE s.application_id = $1 AND s.id = $2
        """)

    package func identityProfile(
        ofSession id: UUID, application: Application.ID
    ) async throws -> [String: JSONValue] {
        let rows = try await run(Self.selectIdentityProfile, [.application(application), .uuid(id)])
        guard var row = rows.first else { return [:] }
        return try JSONValue(jsonText: row.next()).object ?? [:]
    }

    private static let selectDetails = Statement(
        .read,
        """
        SELECT EXISTS (SELECT 1 FROM identities i
                         JOIN passwords p ON p.application_id = $1 AND p.identity_id = i.id
                        WHERE i.application_id = $1 AND i.uid = $2 AND p.must_change),
               (SELECT provider_uid FROM identities
                 WHERE application_id = $1 AND uid = $2 AND provider = $3
                 ORDER BY created_at, id
                 LIMIT 1)
        """)

    package func details(
        of user: User, provider: String?, application: Application.ID
    ) async throws -> AccountDetails {
        var row = try await one(Self.selectDetails, [.application(application), .uuid(user.uid), .text(provider)])
        return AccountDetails(user: user, shouldChangePassword: try row.next(), providerUid: try row.next())
    }

    private static let updateProfile = Statement(
        .write,
        """
        UPDATE accounts
           SET display_name = coalesce($3, display_name), metadata = coalesce($4, metadata), updated_at = now()
         WHERE application_id = $1 AND uid = $2
           AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
        RETURNING uid
        """)

    package func updateProfile(
        of uid: UUID, displayName: String?, metadata: JSONValue?, application: Application.ID
    ) async throws -> User? {
        let metadata = try metadata?.jsonText()
        let binds: [Bind] = [.application(application), .uuid(uid), .text(displayName), .json(metadata)]
        guard try await !run(Self.updateProfile, binds).isEmpty else { return nil }
        return try await user(uid, application: application)
    }

    private static let updateLanguages = Statement(
        .write,
        """
        UPDATE accounts SET locale = $3, updated_at = now()
         WHERE application_id = $1 AND uid = $2
           AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
        RETURNING uid
        """)

    package func setLanguages(
        _ languages: String, of uid: UUID, application: Application.ID
    ) async throws -> Bool {
        try await !run(Self.updateLanguages, [.application(application), .uuid(uid), .text(languages)]).isEmpty
    }

    static let selectContact = Statement(
        .read,
        """
        SELECT a.locale, d.kind, d.address
          FROM accounts a
          LEFT JOIN addresses d ON d.application_id = $1 AND d.uid = a.uid AND NOT d.is_silent
         WHERE a.application_id = $1 AND a.uid = $2
         ORDER BY d.verified_at
        """)

    package func contact(of uid: UUID, application: Application.ID) async throws -> OwnerContact {
        try await run(Self.selectContact, [.application(application), .uuid(uid)]).contact()
    }

    static let lockAccount = Statement(
        .write,
        """
        SELECT disabled_at IS NOT NULL, purge_after, absorbed_by
          FROM accounts WHERE application_id = $1 AND uid = $2 FOR NO KEY UPDATE
        """)

    package static let lockAccountsAndSession = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid FROM accounts WHERE application_id = $1 AND uid = ANY ($2) ORDER BY uid FOR NO KEY UPDATE
        ), session AS MATERIALIZED (
            SELECT id FROM sessions
             WHERE application_id = $1 AND id = $3 AND ended_at IS NULL AND (SELECT count(*) FROM account) > 0
               FOR NO KEY UPDATE
        )
        SELECT (SELECT count(*) FROM account), (SELECT count(*) FROM session)
        """)

    package func lock(_ accounts: Set<UUID>, session: UUID?, application: Application.ID) async throws {
        try await write(
            Self.lockAccountsAndSession, [.application(application), .uuids(Array(accounts)), .uuid(session)])
    }

    package func lockAccount(_ uid: UUID, application: Application.ID) async throws -> AccountStatus? {
        try await run(Self.lockAccount, [.application(application), .uuid(uid)]).lockedStatus()
    }
}

extension Rows {
    /// The status in the answer of `lockAccount`.
    func lockedStatus() throws -> AccountStatus? {
        guard var row = first else { return nil }
        let status = try row.nextStatus()
        return try row.next(UUID?.self).map { .absorbed(by: $0) } ?? status
    }

    /// The contact in the answer of `selectContact`.
    func contact() throws -> OwnerContact {
        var contact = OwnerContact()
        for var row in self {
            contact.languages = try row.next()
            if let address = try row.nextAddress() { contact.addresses.append(address) }
        }
        return contact
    }
}

extension Row {
    /// The columns of `JoinedUsers.userColumns` and `JoinedUsers.accessColumns`.
    func user() throws -> User {
        var row = self
        return try row.nextUser()
    }

    mutating func nextUser() throws -> User {
        var user = User(
            uid: try next(), email: try next(), phone: try next(), displayName: try next(),
            isAnonymous: try next(), providers: try next(), metadata: try JSONValue(jsonText: next()),
            createdAt: try next(), updatedAt: try next())
        user.access = try nextAccess()
        return user
    }

    /// The columns `roles` and `claims`.
    mutating func nextAccess() throws -> AccountAccess {
        AccountAccess(roles: try next(), claims: try JSONValue(jsonText: next()).object ?? [:])
    }
}
