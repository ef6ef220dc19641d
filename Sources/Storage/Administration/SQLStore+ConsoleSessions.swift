package import Accounts
package import Administration
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: ConsoleSessionStore {
    private static let insertConsoleSession = Statement(
        .write,
        """
        INSERT INTO console_sessions (application_id, hash, uid, session_id, expires_at, proven_at)
        SELECT $1, $2, uid, id, now() + $5::interval, authenticated_at
          FROM sessions
         WHERE application_id = $1 AND id = $4 AND uid = $3
        """)

    package func insertConsoleSession(
        _ hash: [UInt8], of session: UUID, uid: UUID, lifetime: Duration, home: Application.ID
    ) async throws {
        try await write(
            Self.insertConsoleSession,
            [.application(home), .bytes(hash), .uuid(uid), .uuid(session), .interval(lifetime)])
    }

    /// A row for each grant of the account, or one without.
    ///
    /// A use is noted at most once a minute, and often enough that a session in use does not become idle.
    private static let selectConsoleSession = Statement(
        .read,
        """
        SELECT s.id, s.uid, s.identity_id, sha256(a.audit_key || uuid_send(a.uid)),
               coalesce(a.display_name,
                        (SELECT d.address FROM addresses d WHERE d.application_id = $1 AND d.uid = s.uid
                          ORDER BY d.verified_at LIMIT 1)),
               floor(extract(epoch FROM now()) - extract(epoch FROM least(s.authenticated_at, c.proven_at)))::bigint,
               s.methods, i.provider, c.created_at,
               least(c.expires_at, s.expires_at), c.used_at < now() - $3::interval,
               c.used_at < now() - least(interval '1 minute', $3::interval / 4), g.role, g.granted_on,
               s.identity_id = ANY (g.identities)
          FROM console_sessions c
          JOIN sessions s ON s.application_id = $1 AND s.id = c.session_id AND s.uid = c.uid
          JOIN accounts a ON a.application_id = $1 AND a.uid = s.uid
          JOIN identities i ON i.application_id = $1 AND i.id = s.identity_id
          LEFT JOIN admin_grants g ON g.application_id = $1 AND g.uid = s.uid
         WHERE c.application_id = $1 AND c.hash = $2 AND c.expires_at > now()
           AND s.ended_at IS NULL AND s.expires_at > now() AND NOT s.is_borrowed
           AND a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
         ORDER BY g.granted_on
        """)

    private static let noteUse = Statement(
        .write,
        """
        UPDATE console_sessions SET used_at = now() WHERE application_id = $1 AND hash = $2
        """)

    package func consoleSession(
        _ hash: [UInt8], idle: Duration, home: Application.ID
    ) async throws -> ConsoleSession? {
        let rows = try await run(Self.selectConsoleSession, [.application(home), .bytes(hash), .interval(idle)])
        var session: ConsoleSession?
        var isUseStale = false
        for var row in rows {
            let next = try row.nextConsoleSession(hash)
            isUseStale = try row.next()
            if session == nil { session = next }
            let (role, application, counts): (String?, Int32?, Bool?) = (
                try row.next(), try row.next(), try row.next()
            )
            guard let role = role.flatMap(AdminScope.Role.init(rawValue:)), let application else { continue }
            session?.grants.append(
                .init(
                    role: role, application: Application.ID(grantedOn: application), counts: counts == true))
        }
        if isUseStale, session?.isIdle == false {
            try await write(Self.noteUse, [.application(home), .bytes(hash)])
        }
        return session
    }

    private static let moveConsoleSession = Statement(
        .write,
        """
        UPDATE console_sessions c SET session_id = $3, hash = $5, used_at = now(), proven_at = now()
          FROM sessions s
         WHERE c.application_id = $1 AND c.hash = $2 AND c.uid = $4 AND c.expires_at > now()
           AND s.application_id = $1 AND s.id = c.session_id AND s.ended_at IS NULL AND s.expires_at > now()
        RETURNING s.id
        """)

    package func moveConsoleSession(
        _ hash: [UInt8], to cookie: [UInt8], of session: UUID, uid: UUID, home: Application.ID
    ) async throws -> UUID? {
        let binds: [Bind] = [.application(home), .bytes(hash), .uuid(session), .uuid(uid), .bytes(cookie)]
        return try await run(Self.moveConsoleSession, binds).decoded { try $0.next(UUID.self) }.first
    }

    private static let keepTyped = Statement(
        .write,
        """
        UPDATE console_sessions SET typed = $3, typed_until = now() + $4::interval
         WHERE application_id = $1 AND hash = $2
        """)

    package func keepTyped(_ sealed: [UInt8], for time: Duration, in hash: [UInt8], home: Application.ID) async throws {
        try await write(
            Self.keepTyped, [.application(home), .bytes(hash), .bytes(sealed), .interval(time)])
    }

    private static let typed = Statement(
        .read, "SELECT typed FROM console_sessions WHERE application_id = $1 AND hash = $2 AND typed IS NOT NULL")

    package func typed(in hash: [UInt8], home: Application.ID) async throws -> [UInt8]? {
        try await run(Self.typed, [.application(home), .bytes(hash)]).decoded { try $0.next([UInt8].self) }.first
    }

    private static let takeTyped = Statement(
        .write,
        """
        WITH kept AS MATERIALIZED (
            SELECT typed_until FROM console_sessions
             WHERE application_id = $1 AND hash = $2 AND typed = $3
               FOR UPDATE
        ), taken AS (
            UPDATE console_sessions SET typed = NULL, typed_until = NULL
             WHERE application_id = $1 AND hash = $2 AND EXISTS (SELECT 1 FROM kept)
        )
        SELECT typed_until FROM kept WHERE typed_until > now()
        """)

    package func takeTyped(_ sealed: [UInt8], in hash: [UInt8], home: Application.ID) async throws -> Bool {
        try await run(Self.takeTyped, [.application(home), .bytes(hash), .bytes(sealed)]).first != nil
    }

    private static let deleteConsoleSession = Statement(
        .write, "DELETE FROM console_sessions WHERE application_id = $1 AND hash = $2 RETURNING session_id, uid")

    package func deleteConsoleSession(
        _ hash: [UInt8], home: Application.ID
    ) async throws -> (session: UUID, uid: UUID)? {
        guard var row = try await run(Self.deleteConsoleSession, [.application(home), .bytes(hash)]).first else {
            return nil
        }
        return (try row.next(), try row.next())
    }

    private static let selectConsoleIdentities = Statement(
        .read,
        """
        SELECT i.id, i.provider, i.email, i.phone, i.display_name, i.created_at, i.last_used_at,
               NOT EXISTS (SELECT 1 FROM admin_grants g
                            WHERE g.application_id = $1 AND g.uid = $2 AND $3 = ANY (g.identities)
                              AND i.id <> ALL (g.identities))
          FROM identities i
         WHERE i.application_id = $1 AND i.uid = $2 AND NOT i.is_guest
         ORDER BY i.created_at, i.id
        """)

    package func consoleIdentities(
        of uid: UUID, prover: UUID, home: Application.ID
    ) async throws -> [ConsoleIdentity] {
        try await run(Self.selectConsoleIdentities, [.application(home), .uuid(uid), .uuid(prover)]).decoded { row in
            ConsoleIdentity(
                id: try row.next(), provider: try row.next(), email: try row.next(), phone: try row.next(),
                displayName: try row.next(), createdAt: try row.next(), lastUsedAt: try row.next(),
                counts: try row.next())
        }
    }

    private static let admitIdentity = Statement(
        .write,
        """
        WITH admitted AS (
            UPDATE admin_grants g SET identities = g.identities || $3::uuid
              FROM identities i
             WHERE g.application_id = $1 AND g.uid = $2 AND $3::uuid <> ALL (g.identities)
               AND $5 = ANY (g.identities)
               AND i.application_id = $1 AND i.id = $3 AND i.uid = $2
            RETURNING g.uid
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'admin.identity-admitted', sha256(a.audit_key || uuid_send(a.uid)), $4::jsonb
              FROM accounts a
             WHERE a.application_id = $1 AND a.uid = $2 AND EXISTS (SELECT 1 FROM admitted)
        )
        SELECT uid FROM admitted
        """)

    package func admitIdentity(
        _ identity: UUID, of uid: UUID, prover: UUID, by act: AdministrativeAct, home: Application.ID
    ) async throws -> Bool {
        try await run(
            Self.admitIdentity, [.application(home), .uuid(uid), .uuid(identity), try .act(act), .uuid(prover)]
        ).first != nil
    }
}

extension Row {
    /// The session of a row, up to its column `isIdle`.
    fileprivate mutating func nextConsoleSession(_ hash: [UInt8]) throws -> ConsoleSession {
        let (sessionID, uid, identity): (UUID, UUID, UUID) = (try next(), try next(), try next())
        let pseudonym: [UInt8] = try next()
        let (name, age): (String?, Int) = (try next(), try next())
        let (methods, provider): ([String], String) = (try next(), try next())
        return ConsoleSession(
            hash: hash, sessionID: sessionID, uid: uid, identity: identity, pseudonym: pseudonym.hex, name: name,
            proofAge: .seconds(max(0, age)), methods: methods, provider: provider, createdAt: try next(),
            expiresAt: try next(), isIdle: try next())
    }
}
