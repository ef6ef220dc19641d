package import Accounts
package import Foundation
internal import Postgres
internal import ProviderKit

/// Upgrades of guests to accounts, and phone numbers that move to another account.
extension SQLStore: GuestUpgradeStore {
    /// The session continues with the new identity; its earlier access tokens, refresh tokens and bearers become invalid.
    ///
    /// It ends earlier if the client asks for a short session; `least` ignores the null of others.
    ///
    /// A browser's session has no refresh token; all sessions of the browser get the new cookie. A client's session keeps
    /// its own lifetime and refresh tokens, and gets none of the API's. The account's other sessions that go on, which
    /// belong to the same browser, follow.
    private static let upgradeGuest = Statement(
        .write,
        """
        WITH dropped AS (
            DELETE FROM identities WHERE application_id = $1 AND uid = $2 AND is_guest RETURNING id
        ), renewed AS (
            UPDATE sessions
               SET identity_id = $3, methods = $5, authenticated_at = now(), generation = generation + 1,
                   renewed_at = now(), browser_hash = CASE WHEN kind = 'browser' THEN $9::bytea END,
                   renewal = CASE WHEN kind = 'client' THEN renewal ELSE $11 END,
                   dialect = CASE WHEN kind = 'client' THEN dialect ELSE $12 END,
                   expires_at = CASE WHEN kind = 'client' THEN expires_at ELSE least(expires_at, short.ends_at) END
              FROM (SELECT now() + $15::interval AS ends_at) AS short
             WHERE application_id = $1 AND id = $4 AND uid = $2 AND ended_at IS NULL
            RETURNING id, kind, authenticated_at, expires_at, generation
        ), older AS (
            DELETE FROM refresh_tokens t USING renewed
             WHERE t.application_id = $1 AND t.session_id = renewed.id AND renewed.kind <> 'client'
        ), token AS (
            INSERT INTO refresh_tokens (application_id, hash, session_id, generation, expires_at)
            SELECT $1, $6, id, generation, least(now() + $7::interval, expires_at) FROM renewed
             WHERE $6::bytea IS NOT NULL AND kind <> 'client'
        ), older_bearer AS (
            DELETE FROM session_bearers b USING renewed WHERE b.application_id = $1 AND b.session_id = renewed.id
        ), bearer AS (
            INSERT INTO session_bearers (application_id, hash, session_id, idle, idle_until, expires_at)
            SELECT $1, $13, id, $14, least(now() + $14::interval, expires_at), expires_at FROM renewed
             WHERE $13::bytea IS NOT NULL AND kind <> 'client'
        ), followed AS (
            UPDATE sessions s SET identity_id = $3, methods = $5, authenticated_at = renewed.authenticated_at
              FROM renewed
             WHERE s.application_id = $1 AND s.uid = $2 AND s.id <> renewed.id AND s.ended_at IS NULL
        ), replaced AS (
            UPDATE sessions s SET browser_hash = $9
              FROM renewed
             WHERE s.application_id = $1 AND s.browser_hash = $10 AND s.id <> renewed.id
        ), used AS (
            UPDATE identities SET last_used_at = now() WHERE application_id = $1 AND id = $3
            RETURNING created_at, display_name, profile
        ), named AS (
            UPDATE accounts SET display_name = coalesce(display_name, $8), updated_at = now()
             WHERE application_id = $1 AND uid = $2
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id)
            SELECT $1, 'guest.upgraded', sha256(a.audit_key || uuid_send(a.uid)), session_pseudonym(a.audit_key, $4)
              FROM dropped JOIN accounts a ON a.application_id = $1 AND a.uid = $2
        )
        SELECT used.created_at, used.display_name, used.profile::text, authenticated_at, expires_at, generation,
               pg_notify('gatehouse', 'renewed:' || $1::text || ':' || renewed.id::text || ':' || generation::text)
          FROM renewed, used
        """)

    package func upgradeGuest(
        opening session: NewSession, identity: KnownIdentity, keeping current: UUID
    ) async throws -> OpenedSession {
        let application = session.application
        let upgrade: [Bind] =
            [
                .application(application.id), .uuid(identity.uid), .uuid(identity.id), .uuid(current),
                .texts(session.evidence.methods), .bytes(session.secret.refreshToken?.hash),
                .interval(application.policy.tokens.refreshLifetime), .text(session.evidence.displayName),
                .bytes(session.client.cookie?.hash), .bytes(session.client.cookie?.replaced),
            ] + session.bearerBinds + [.interval(session.shortLifetime)]
        let answers = try await run([
            (Self.upgradeGuest, upgrade),
            (JoinedUsers.select, [.application(application.id), .uuids([identity.uid])]),
        ])
        var row = try answers[0].firstOrConflict()
        let createdAt: Date = try row.next()
        let displayName: String? = try row.next()
        let profile = try JSONValue(jsonText: row.next())
        let user = try answers[1].firstOrConflict().user()
        var grant = SessionGrant(
            sessionID: current, uid: user.uid, authenticatedAt: try row.next(), expiresAt: try row.next(),
            generation: try row.next(), methods: session.evidence.methods, provider: session.provider,
            providerUid: session.evidence.providerUid, email: user.email, phone: user.phone,
            profile: profile.object ?? [:])
        grant.access = user.access
        onChange(
            .revoked(
                SessionRevocation(of: current, application: session.application.id, before: grant.generation)))
        return OpenedSession(
            grant: grant, user: user, identityID: identity.id, identityCreatedAt: createdAt,
            identityDisplayName: displayName,
            isNewAccount: false, shouldChangePassword: false)
    }

    private static let noteSuccessor = Statement(
        .write,
        """
        WITH moved AS (
            UPDATE sessions SET successor_uid = $3 WHERE application_id = $1 AND id = $2 AND ended_at IS NOT NULL
            RETURNING id, uid
        )
        INSERT INTO audit_events (application_id, event, account, session_id)
        SELECT $1, 'guest.moved', sha256(a.audit_key || uuid_send(a.uid)), session_pseudonym(a.audit_key, moved.id)
          FROM moved JOIN accounts a ON a.application_id = $1 AND a.uid = moved.uid
        """)

    package func note(successor uid: UUID, ofGuest session: UUID, application: Application.ID) async throws {
        try await write(Self.noteSuccessor, [.application(application), .uuid(session), .uuid(uid)])
    }

    /// Removes a phone number from the account that has it.
    ///
    /// The identity of the number itself becomes a guest identity if a session still uses it, and is deleted otherwise.
    /// Other identities only lose the number.
    private static let displace = Statement(
        .write,
        """
        WITH freed AS (
            DELETE FROM addresses WHERE application_id = $1 AND uid = $2 AND kind = $3 AND address = $4
        ), concerned AS MATERIALIZED (
            SELECT i.id, i.provider, i.provider_uid = $4 AS is_number,
                   EXISTS (SELECT 1 FROM sessions s
                            WHERE s.application_id = $1 AND s.uid = $2 AND s.identity_id = i.id
                              AND s.ended_at IS NULL AND s.expires_at > now()
                              AND (s.idle IS NULL OR s.last_used_at > now() - s.idle)
                              AND (s.kind <> 'api' OR s.renewal = 'none'
                                   OR EXISTS (SELECT 1 FROM refresh_tokens t
                                               WHERE t.application_id = $1 AND t.session_id = s.id
                                                 AND t.expires_at > now())
                                   OR EXISTS (SELECT 1 FROM session_bearers b
                                               WHERE b.application_id = $1 AND b.session_id = s.id
                                                 AND b.idle_until > now()))) AS is_in_use
              FROM identities i
             WHERE i.application_id = $1 AND i.uid = $2 AND i.phone = $4 AND i.phone_verified
        ), gone AS (
            DELETE FROM identities i USING concerned c
             WHERE i.application_id = $1 AND i.id = c.id AND c.is_number AND NOT c.is_in_use
            RETURNING i.id
        ), kept AS (
            UPDATE identities i
               SET phone = NULL, phone_verified = false, is_guest = i.is_guest OR c.is_number,
                   provider = CASE WHEN c.is_number THEN 'anonymous' ELSE i.provider END,
                   provider_uid = CASE WHEN c.is_number THEN i.id::text ELSE i.provider_uid END
              FROM concerned c
             WHERE i.application_id = $1 AND i.id = c.id AND (c.is_in_use OR NOT c.is_number)
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'number.recycled', sha256(a.audit_key || uuid_send(a.uid)),
                   jsonb_build_object('provider', c.provider, 'guest', c.is_in_use)
              FROM concerned c JOIN accounts a ON a.application_id = $1 AND a.uid = $2
             WHERE c.is_number
        )
        SELECT EXISTS (SELECT 1 FROM identities i
                        WHERE i.application_id = $1 AND i.uid = $2
                          AND NOT EXISTS (SELECT 1 FROM gone WHERE gone.id = i.id))
        """)

    package func displace(_ owner: AddressOwner, application: Application.ID) async throws -> Bool {
        let binds: [Bind] = [
            .application(application), .uuid(owner.uid), .text(owner.address.kind.rawValue), .text(owner.address.value),
        ]
        var row = try await run(Self.displace, binds).firstOrConflict()
        return try row.next()
    }

    private static let confirm = Statement(
        .write,
        """
        WITH shown AS (
            UPDATE identities
               SET last_used_at = CASE WHEN phone = $4 AND phone_verified THEN clock.now ELSE last_used_at END,
                   quarantined_at = NULL
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND uid = $2
               AND (provider = $3 AND provider_uid = $4 OR email = $4 AND email_verified
                    OR phone = $4 AND phone_verified)
        )
        UPDATE addresses SET verified_at = now()
         WHERE application_id = $1 AND uid = $2 AND kind = 'phone' AND address = $4
        """)

    package func confirm(_ proof: Proof, of uid: UUID, application: Application.ID) async throws {
        try await write(
            Self.confirm, [.application(application), .uuid(uid), .text(proof.provider), .text(proof.providerUid)])
    }
}
