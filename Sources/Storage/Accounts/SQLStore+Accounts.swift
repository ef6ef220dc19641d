package import Accounts
package import Foundation
internal import Postgres
package import ProviderKit

extension SQLStore: AccountLocks, OwnerContactStore, ProfileStore {
    /// Outside a transaction, one statement reads the users of all concurrent calls.
    package func user(_ uid: UUID, application: Application.ID) async throws -> User? {
        if let sharedUsers {
            try await translatingErrors { try await sharedUsers.user(uid, application: application) }
        } else {
            try await run(JoinedUsers.select, [.application(application), .uuids([uid])]).first?.user()
        }
    }

    private static let updateProfile = Statement(
        .write,
        """
        UPDATE accounts
           SET display_name = coalesce($3, display_name), metadata = coalesce($4, metadata), updated_at = now()
         WHERE application_id = $1 AND uid = $2 AND deleted_at IS NULL
        """)

    package func updateProfile(
        of uid: UUID, displayName: String?, metadata: JSONValue?, application: Application.ID
    ) async throws -> User? {
        let metadata = try metadata?.jsonText()
        let binds: [Bind] = [.application(application), .uuid(uid), .text(displayName), .json(metadata)]
        try await write(Self.updateProfile, binds)
        return try await user(uid, application: application)
    }

    private static let selectNoticeAddresses = Statement(
        .read,
        """
        SELECT kind, address FROM addresses d
         WHERE application_id = $1 AND uid = $2 AND NOT is_silent
           AND (kind = 'email' OR NOT EXISTS (
                   SELECT 1 FROM addresses e
                    WHERE e.application_id = $1 AND e.uid = $2 AND e.kind = 'email' AND NOT e.is_silent))
         ORDER BY verified_at
        """)

    package func noticeAddresses(of uid: UUID, application: Application.ID) async throws -> [Address] {
        try await run(Self.selectNoticeAddresses, [.application(application), .uuid(uid)]).compactMap { row in
            var row = row
            return try row.nextAddress()
        }
    }

    private static let selectLanguages = Statement(
        .read, "SELECT locale FROM accounts WHERE application_id = $1 AND uid = $2")

    package func languages(of uid: UUID, application: Application.ID) async throws -> String? {
        var row = try await run(Self.selectLanguages, [.application(application), .uuid(uid)]).first
        return try row?.next(String?.self)
    }

    private static let lockAccount = Statement(
        .write,
        """
        SELECT disabled_at IS NOT NULL, purge_after, absorbed_by
          FROM accounts WHERE application_id = $1 AND uid = $2 FOR NO KEY UPDATE
        """)

    package func lockAccount(_ uid: UUID, application: Application.ID) async throws -> AccountStatus? {
        guard var row = try await run(Self.lockAccount, [.application(application), .uuid(uid)]).first else {
            return nil
        }
        let status = try row.nextStatus()
        return try row.next(UUID?.self).map { .absorbed(by: $0) } ?? status
    }
}

extension Row {
    /// The columns of a user, from `uid` to `updated_at`.
    func user() throws -> User {
        var row = self
        return try row.nextUser()
    }

    mutating func nextUser() throws -> User {
        User(
            uid: try next(), email: try next(), phone: try next(), displayName: try next(),
            isAnonymous: try next(), providers: try next(), metadata: try JSONValue(jsonText: next()),
            createdAt: try next(), updatedAt: try next())
    }
}
