package import Accounts
internal import Foundation
package import Postgres
internal import ProviderKit

extension SQLStore: LinkingStore {
    /// Creates the account, identity, addresses and session in one statement, which has no effect if the identity or an
    /// address was taken in the meantime.
    ///
    /// The identity's key is inserted before those of the addresses, in the same order as linking inserts them.
    package static let createAccount = Statement(.write, newAccount, firstAppSession, createdAccount)

    /// The same with a browser's session; it replaces the cookie for the browser's other sessions.
    static let createAccountInBrowser = Statement(.write, newAccount, firstBrowserSession, createdAccount)

    private static let newAccount: StaticString = """
        WITH account AS (
            INSERT INTO accounts (application_id, uid, display_name, audit_key, locale) VALUES ($1, $2, $11, $12, $26)
            RETURNING uid, audit_key, created_at
        ), identity AS (
            INSERT INTO identities
                   (application_id, id, uid, provider, provider_uid, is_guest, email, email_verified, phone, phone_verified,
                    display_name, profile, last_used_at)
            SELECT $1, $3, uid, $13, $14, $15, $16, $17, $18, $22, $11, $19, now() FROM account
            RETURNING uid
        ), claimed AS (
            INSERT INTO addresses (application_id, kind, address, uid)
            SELECT $1, kind, address, uid FROM identity, unnest($20::text[], $21::text[]) AS claim (kind, address)
             ORDER BY kind, address
        """

    private static let firstAppSession: StaticString = """
        ), session AS (
            INSERT INTO sessions
                   (application_id, id, uid, identity_id, methods, device, address, expires_at, renewal, dialect,
                    device_mark)
            SELECT $1, $4, uid, $3, $5, $6, $7, now() + $8::interval, $28, $29, $32 FROM account
            RETURNING id, expires_at, dialect
        ), token AS (
            INSERT INTO refresh_tokens (application_id, hash, session_id, expires_at)
            SELECT $1, $9, id, now() + least($10::interval, $8::interval) FROM session WHERE $9::bytea IS NOT NULL
        ), bearer AS (
            INSERT INTO session_bearers (application_id, hash, session_id, idle, idle_until, expires_at)
            SELECT $1, $30, id, $31, least(now() + $31::interval, expires_at), expires_at FROM session
             WHERE $30::bytea IS NOT NULL
        """

    private static let firstBrowserSession: StaticString = """
        ), session AS (
            INSERT INTO sessions
                   (application_id, id, uid, identity_id, methods, device, address, expires_at, kind, browser_hash, idle,
                    last_used_at)
            SELECT $1, $4, uid, $3, $5, $6, $7, now() + $8::interval, 'browser', $28, $30, now() FROM account
            RETURNING dialect
        ), replaced AS (
            UPDATE sessions SET browser_hash = $28 WHERE application_id = $1 AND browser_hash = $29
        """

    private static let createdAccount: StaticString = """
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'account.created', sha256(audit_key || uuid_send(uid)), session_pseudonym(audit_key, $4),
                   jsonb_strip_nulls(jsonb_build_object('provider', $13, 'dialect', session.dialect)) || $27::jsonb
              FROM account, session
        ), announced AS (
            INSERT INTO webhook_deliveries (application_id, event_id, webhook, name, kind, uid, details)
            SELECT $1, $23, hook.url, hook.name, 'account.created', uid, jsonb_build_object('provider', $13)
              FROM account, unnest($24::text[], $25::text[]) AS hook (url, name)
        )
        SELECT created_at, created_at + $8::interval FROM account
        """

    package func createAccount(
        opening session: NewSession, with identity: NewIdentity, recording record: EvidenceRecord
    ) async throws -> OpenedSession {
        let evidence = session.evidence
        let (uid, id, addresses) = (UUID.v7(), UUID.v7(), identity.claiming)
        let shown = evidence.shown(verified: addresses)
        let subscribers = subscriptions.subscribers(to: .accountCreated)
        let cookie = session.client.cookie
        var row = try await one(
            cookie == nil ? Self.createAccount : Self.createAccountInBrowser,
            [.application(session.application.id), .uuid(uid), .uuid(id)] + session.binds + [
                .text(evidence.displayName), .bytes(SystemRandom.bytes(32)), .text(session.provider),
                .text(evidence.providerUid), .bool(evidence.isGuest), .text(shown.email?.value),
                .bool(shown.emailVerified), .text(shown.phone?.value), .object(evidence.profile),
            ] + addresses.binds + [
                .bool(shown.phoneVerified), .uuid(AccountEvent(.accountCreated, of: uid).id),
                .texts(subscribers.map(\.url)), .texts(subscribers.map(\.name)), .text(session.client.languages),
                .object(record.details),
            ] + (cookie?.binds ?? session.bearerBinds + [.bytes(session.deviceMark)]))
        if !subscribers.isEmpty { onChange(.queued) }
        for statistic in [Statistic.signUps, .signIns] {
            count(statistic, label: session.provider, in: session.application.id)
        }
        let createdAt: Date = try row.next()
        let user = User(
            uid: uid, email: addresses.lazy.compactMap(\.email).first?.value,
            phone: addresses.lazy.compactMap(\.phone).first?.value, displayName: evidence.displayName,
            isAnonymous: evidence.isGuest, providers: [session.provider], metadata: .object([:]),
            createdAt: createdAt, updatedAt: createdAt)
        return OpenedSession(
            grant: SessionGrant(
                sessionID: session.id, uid: uid, authenticatedAt: createdAt, expiresAt: try row.next(),
                methods: evidence.methods, provider: session.provider, providerUid: evidence.providerUid,
                email: user.email, phone: user.phone, profile: evidence.profile),
            user: user, identityID: id, identityCreatedAt: createdAt, identityDisplayName: evidence.displayName,
            isNewAccount: true, shouldChangePassword: false)
    }
}
