package import Accounts
package import Foundation
package import Postgres
internal import ProviderKit

extension SQLStore: SessionOpeningStore {
    /// Opens a session and deletes the pending registrations of the addresses that the sign-in proves.
    ///
    /// It keeps decoys, which are pending registrations of addresses that an account already owns: deleting one would
    /// reveal that the address has an account and that its owner has just signed in.
    ///
    /// It locks the rows on which the permission depends, starting with the account. Deletion and a change of password
    /// lock the account too before they end sessions, so neither can miss a session that is being opened.
    ///
    /// The roles and claims are those of the locked row: a call that has waited for a change of them must not return what
    /// they were before.
    ///
    /// A locale that the person has chosen is kept (`Profile.choose`). It is not stored either if another transaction has
    /// locked the account, since waiting for the lock could cause a deadlock.
    package static let openSession = Statement(
        .write, liveAccount, provenIdentity, appSession, afterOpening, audited, JoinedUsers.userColumns, openedColumns,
        JoinedUsers.users, ofAccount)

    /// Opens a session in the same way, but only on a device of which the account has a session, or had one lately.
    static let openSessionOnKnownDevice = Statement(
        .write, liveAccount, withDevice, provenIdentity, appSession, afterOpening, audited, JoinedUsers.userColumns,
        openedColumns, JoinedUsers.users, ofAccount)

    /// Opens a browser's session in the same way, or renews the session that the browser already has of the account.
    ///
    /// A renewed session is no longer borrowed.
    ///
    /// A session that another device opens is borrowed. If the browser already has a session of the account with a
    /// proof, or of an app that has signed the account in, that session stays as it is.
    ///
    /// The statement replaces the cookie for all sessions of the browser, and removes an expired session of the same
    /// account from the browser. A repeated call finds the session under the new cookie. If both calls run at the same
    /// time, they conflict on the id of the session, and the later one finds it when it is repeated.
    static let openBrowserSession = Statement(
        .write, liveAccount, provenIdentity, browserSession, afterOpening, audited, JoinedUsers.userColumns,
        openedColumns, JoinedUsers.users, ofAccount)

    private static let liveAccount: StaticString = """
        WITH account AS MATERIALIZED (
            SELECT uid, audit_key, locale, roles, claims FROM accounts
             WHERE application_id = $1 AND uid = $2
               AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
        """

    private static let withDevice: StaticString = """
               AND EXISTS (SELECT 1 FROM sessions WHERE application_id = $1 AND uid = $2 AND device_mark = $26)
        """

    private static let provenIdentity: StaticString = """
               FOR SHARE
        ), password AS MATERIALIZED (
            SELECT p.identity_id FROM passwords p
             WHERE p.application_id = $1 AND p.identity_id = $3 AND p.hash = $11 AND EXISTS (SELECT 1 FROM account)
               AND NOT EXISTS (SELECT 1 FROM password_failures f
                                WHERE f.application_id = $1 AND f.subject = $12 AND f.locked_until > now())
               FOR SHARE
        ), identity AS (
            UPDATE identities i
               SET last_used_at = CASE WHEN $18 THEN clock.now ELSE i.last_used_at END,
                   display_name = coalesce(i.display_name, $13),
                   profile = CASE WHEN $14::jsonb = '{}' THEN i.profile ELSE $14::jsonb END
              FROM account, (SELECT now() AS now) AS clock
             WHERE i.application_id = $1 AND i.id = $3 AND i.uid = account.uid
               AND (i.quarantined_at IS NOT NULL) = $21
               AND ($11::text IS NULL OR EXISTS (SELECT 1 FROM password))
            RETURNING i.id, i.provider, i.provider_uid, i.created_at, i.display_name, i.profile
        """

    static let appSession: StaticString = """
        ), session AS (
            INSERT INTO sessions
                   (application_id, id, uid, identity_id, methods, device, address, expires_at, resumes,
                    authenticated_at, continues, renewal, dialect, device_mark)
            SELECT $1, $4, account.uid, identity.id, $5, $6, $7, now() + $8::interval, $16,
                   least(coalesce($17, now()), now()), $20, $22, $23, $26
              FROM account, identity
            RETURNING id, authenticated_at, expires_at, kind, dialect
        ), token AS (
            INSERT INTO refresh_tokens (application_id, hash, session_id, expires_at)
            SELECT $1, $9, id, now() + least($10::interval, $8::interval) FROM session WHERE $9::bytea IS NOT NULL
        ), bearer AS (
            INSERT INTO session_bearers (application_id, hash, session_id, idle, idle_until, expires_at)
            SELECT $1, $24, id, $25, least(now() + $25::interval, expires_at), expires_at FROM session
             WHERE $24::bytea IS NOT NULL
        """

    static let browserSession: StaticString = """
        ), previous AS MATERIALIZED (
            SELECT id, is_borrowed AND parent_id IS NULL AS yields FROM sessions
             WHERE application_id = $1 AND browser_hash IN ($22, $23) AND uid = $2 AND ended_at IS NULL
               AND expires_at > now() AND (idle IS NULL OR last_used_at > now() - idle)
               AND EXISTS (SELECT 1 FROM identity)
             ORDER BY id
             LIMIT 1
               FOR UPDATE
        ), kept AS (
            UPDATE sessions s SET browser_hash = $22, last_used_at = clock.now
              FROM previous, (SELECT now() AS now) AS clock
             WHERE s.application_id = $1 AND s.id = previous.id AND $26 AND NOT previous.yields
            RETURNING s.id, s.authenticated_at, s.expires_at, s.kind, s.dialect
        ), proven AS (
            UPDATE sessions s
               SET identity_id = identity.id, methods = $5, device = $6, address = $7,
                   expires_at = now() + $8::interval,
                   authenticated_at = least(coalesce($17, clock.now), clock.now), browser_hash = $22, idle = $24,
                   last_used_at = clock.now, is_borrowed = $26
              FROM previous, identity, (SELECT now() AS now) AS clock
             WHERE s.application_id = $1 AND s.id = previous.id AND (previous.yields OR NOT $26)
            RETURNING s.id, s.authenticated_at, s.expires_at, s.kind, s.dialect
        ), opened AS (
            INSERT INTO sessions
                   (application_id, id, uid, identity_id, methods, device, address, expires_at, authenticated_at, kind,
                    browser_hash, idle, last_used_at, is_borrowed)
            SELECT $1, CASE WHEN EXISTS (SELECT 1 FROM sessions WHERE application_id = $1 AND id = $25) THEN $4
                            ELSE $25 END,
                   account.uid, identity.id, $5, $6, $7, now() + $8::interval, least(coalesce($17, now()), now()),
                   'browser', $22, $24, now(), $26
              FROM account, identity
             WHERE NOT EXISTS (SELECT 1 FROM previous)
            RETURNING id, authenticated_at, expires_at, kind, dialect
        ), session AS MATERIALIZED (
            SELECT id, authenticated_at, expires_at, kind, dialect FROM kept
            UNION ALL
            SELECT id, authenticated_at, expires_at, kind, dialect FROM proven
            UNION ALL
            SELECT id, authenticated_at, expires_at, kind, dialect FROM opened
        ), followed AS (
            UPDATE sessions s
               SET identity_id = $3, methods = $5, authenticated_at = proven.authenticated_at, is_borrowed = $26
              FROM proven
             WHERE s.application_id = $1 AND s.parent_id = proven.id AND s.ended_at IS NULL
        ), replaced AS (
            UPDATE sessions s SET browser_hash = CASE WHEN s.uid = $2 THEN NULL ELSE $22 END
              FROM session
             WHERE s.application_id = $1 AND s.browser_hash = $23 AND s.id <> session.id
        """

    static let afterOpening: StaticString = """
        ), reader AS MATERIALIZED (
            SELECT uid FROM accounts
             WHERE application_id = $1 AND uid = $2 AND $15::text IS NOT NULL AND locale IS DISTINCT FROM $15
               AND coalesce(locale NOT LIKE '%*;q=0', true) AND EXISTS (SELECT 1 FROM session)
               FOR NO KEY UPDATE SKIP LOCKED
        ), noted AS (
            UPDATE accounts SET locale = $15
             WHERE application_id = $1 AND uid = $2 AND EXISTS (SELECT 1 FROM reader)
        ), registration AS MATERIALIZED (
            SELECT id FROM registrations
             WHERE application_id = $1 AND address = ANY ($19::text[]) AND NOT is_decoy
               AND EXISTS (SELECT 1 FROM session)
               FOR UPDATE NOWAIT
        ), discarded AS (
            DELETE FROM registrations
             WHERE application_id = $1 AND address = ANY ($19::text[]) AND NOT is_decoy
               AND (SELECT count(*) FROM registration) > 0
        ), cleared AS (
            DELETE FROM password_failures
             WHERE application_id = $1 AND subject = $12 AND EXISTS (SELECT 1 FROM session)
        """

    private static let audited: StaticString = """
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'session.opened', sha256(account.audit_key || uuid_send(account.uid)),
                   session_pseudonym(account.audit_key, session.id),
                   jsonb_strip_nulls(
                       jsonb_build_object(
                           'provider', identity.provider, 'kind', session.kind, 'dialect', session.dialect))
              FROM account, identity, session
        )
        """

    static let openedColumns: StaticString = """
             , account.roles, account.claims::text, identity.provider_uid, identity.created_at, identity.display_name,
               identity.profile::text, session.id, session.authenticated_at, session.expires_at
          FROM account, session, identity,
        """

    static let ofAccount: StaticString = """
         WHERE a.application_id = $1 AND a.uid = $2
        """

    package func openSession(
        _ session: NewSession, identity: KnownIdentity, password: PasswordPermission?
    ) async throws -> OpenedSession {
        let statement = session.client.cookie == nil ? Self.openSession : Self.openBrowserSession
        let row = try await one(statement, session.binds(of: identity, password: password))
        if session.isSignIn { count(.signIns, label: session.provider, in: session.application.id) }
        return try row.opened(session, by: identity.id)
    }

    package func openSession(
        onKnownDevice session: NewSession, identity: KnownIdentity, password: PasswordPermission?
    ) async throws -> OpenedSession? {
        let rows = try await run(Self.openSessionOnKnownDevice, session.binds(of: identity, password: password))
        guard let row = rows.first else { return nil }
        if session.isSignIn { count(.signIns, label: session.provider, in: session.application.id) }
        return try row.opened(session, by: identity.id)
    }

    private static let borrowSession = Statement(
        .write, "UPDATE sessions SET is_borrowed = true WHERE application_id = $1 AND id = $2")

    package func borrow(session: UUID, application: Application.ID) async throws {
        try await write(Self.borrowSession, [.application(application), .uuid(session)])
    }
}

extension Row {
    func opened(_ session: NewSession, by identity: UUID) throws -> OpenedSession {
        var row = self
        let user = try row.nextUser()
        let providerUid: String = try row.next()
        let identityCreatedAt: Date = try row.next()
        let displayName: String? = try row.next()
        let profile = try JSONValue(jsonText: row.next())
        var grant = SessionGrant(
            sessionID: try row.next(), uid: user.uid, authenticatedAt: try row.next(),
            expiresAt: try row.next(), methods: session.evidence.methods, provider: session.provider,
            providerUid: providerUid, email: user.email, phone: user.phone, profile: profile.object ?? [:])
        grant.access = user.access
        return OpenedSession(
            grant: grant, user: user, identityID: identity, identityCreatedAt: identityCreatedAt,
            identityDisplayName: displayName,
            isNewAccount: false, shouldChangePassword: false)
    }
}
