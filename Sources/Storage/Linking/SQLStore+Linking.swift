package import Accounts
package import Foundation
package import Postgres
package import ProviderKit

extension SQLStore: LinkingStateStore, SessionOpeningStore {
    package static let selectLinkingState = Statement(
        .read,
        """
        SELECT i.id, NULL::text, NULL::text, a.uid, a.disabled_at IS NOT NULL, a.purge_after, false,
               i.quarantined_at IS NOT NULL
          FROM identities i
          JOIN accounts a ON a.application_id = i.application_id AND a.uid = i.uid
         WHERE i.application_id = $1 AND i.provider = $2 AND i.provider_uid = $3
        UNION ALL
        SELECT NULL::uuid, d.kind, d.address, a.uid, a.disabled_at IS NOT NULL, a.purge_after,
               d.kind = 'phone' AND d.verified_at < now() - $6::interval AND NOT EXISTS (
                   SELECT FROM identities p
                    WHERE p.application_id = $1 AND p.uid = d.uid AND p.phone = d.address AND p.phone_verified
                      AND greatest(p.last_used_at, p.created_at) >= now() - $6::interval),
               coalesce((
                   SELECT bool_and(q.quarantined_at IS NOT NULL) FROM identities q
                    WHERE q.application_id = $1 AND q.uid = d.uid
                      AND (d.kind = 'email' AND q.email = d.address AND q.email_verified
                           OR d.kind = 'phone' AND q.phone = d.address AND q.phone_verified)), false)
          FROM unnest($4::text[], $5::text[]) AS claimed (kind, address)
          JOIN addresses d
            ON d.application_id = $1 AND d.kind = claimed.kind AND d.address = claimed.address
          JOIN accounts a ON a.application_id = d.application_id AND a.uid = d.uid
        """)

    package func linkingState(
        for evidence: VerifiedIdentity, provider: String, idleLimit: Duration, application: Application.ID
    ) async throws -> LinkingState {
        let rows = try await run(
            Self.selectLinkingState,
            [.application(application), .text(provider), .text(evidence.providerUid)]
                + evidence.addresses.map(\.address).binds + [.interval(idleLimit)])
        var state = LinkingState()
        for row in rows {
            var row = row
            let identity: UUID? = try row.next()
            let address = try row.nextAddress()
            let uid: UUID = try row.next()
            let status = try row.nextStatus()
            let isIdle: Bool = try row.next()
            let isQuarantined: Bool = try row.next()
            if let identity {
                state.identity = KnownIdentity(id: identity, uid: uid, status: status, isQuarantined: isQuarantined)
            } else if let address {
                var owner = AddressOwner(address: address, uid: uid, status: status, isIdle: isIdle)
                owner.needsOtherSignIn = isQuarantined
                state.owners.append(owner)
            }
        }
        return state
    }

    /// A proof of an address ends the registrations that wait for it.
    ///
    /// Keeps the decoy: deleting it would reveal that the address has an account whose owner has just signed in.
    ///
    /// Locks what the permission depends on, the account first: deletion and a new password lock it too before they
    /// end sessions, so neither side can miss the other.
    ///
    /// The languages are stored unless another sign-in holds the account: waiting for that one could be a deadlock.
    private static let openSession = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid, audit_key, locale FROM accounts
             WHERE application_id = $1 AND uid = $2
               AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
               FOR SHARE
        ), password AS MATERIALIZED (
            SELECT p.identity_id FROM passwords p, account
             WHERE p.application_id = $1 AND p.identity_id = $3 AND p.hash = $11
               AND NOT EXISTS (SELECT FROM password_failures f
                                WHERE f.application_id = $1 AND f.subject = $12 AND f.locked_until > now())
               FOR SHARE OF p
        ), identity AS (
            UPDATE identities i
               SET last_used_at = CASE WHEN $18 THEN now() ELSE last_used_at END, display_name = coalesce(i.display_name, $13),
                   profile = CASE WHEN $14::jsonb = '{}' THEN i.profile ELSE $14::jsonb END
              FROM account
             WHERE i.application_id = $1 AND i.id = $3 AND i.uid = account.uid
               AND (i.quarantined_at IS NOT NULL) = $21
               AND ($11::text IS NULL OR EXISTS (SELECT FROM password))
            RETURNING i.id, i.provider, i.provider_uid, i.created_at, i.display_name, i.profile
        ), session AS (
            INSERT INTO sessions
                   (application_id, id, uid, identity_id, methods, device, address, expires_at, resumes,
                    authenticated_at, continues)
            SELECT $1, $4, account.uid, identity.id, $5, $6, $7, now() + $8::interval, $16,
                   least(coalesce($17, now()), now()), $20
              FROM account, identity
            RETURNING id, authenticated_at, expires_at
        ), token AS (
            INSERT INTO refresh_tokens (application_id, hash, session_id, expires_at)
            SELECT $1, $9, id, now() + least($10::interval, $8::interval) FROM session
        ), reader AS MATERIALIZED (
            SELECT a.uid FROM account, session, accounts a
             WHERE $15::text IS NOT NULL AND account.locale IS DISTINCT FROM $15
               AND a.application_id = $1 AND a.uid = account.uid
               FOR NO KEY UPDATE OF a SKIP LOCKED
        ), noted AS (
            UPDATE accounts a SET locale = $15 FROM reader WHERE a.application_id = $1 AND a.uid = reader.uid
        ), registration AS MATERIALIZED (
            SELECT FROM registrations
             WHERE application_id = $1 AND address = ANY ($19::text[]) AND NOT is_decoy
               AND EXISTS (SELECT FROM session)
               FOR UPDATE NOWAIT
        ), discarded AS (
            DELETE FROM registrations
             WHERE application_id = $1 AND address = ANY ($19::text[]) AND NOT is_decoy
               AND (SELECT count(*) FROM registration) > 0
        ), cleared AS (
            DELETE FROM password_failures
             WHERE application_id = $1 AND subject = $12 AND EXISTS (SELECT FROM session)
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'session.opened', sha256(account.audit_key || uuid_send(account.uid)),
                   session_pseudonym(account.audit_key, session.id),
                   jsonb_build_object('provider', identity.provider)
              FROM account, identity, session
        )
        SELECT u.uid, u.email, u.phone, u.display_name, u.is_anonymous, u.providers, u.metadata::text, u.created_at,
               u.updated_at, identity.provider_uid, identity.created_at, identity.display_name,
               identity.profile::text, session.authenticated_at, session.expires_at
          FROM session, identity, account
          JOIN users u ON u.application_id = $1 AND u.uid = account.uid
        """)

    package func openSession(
        _ session: NewSession, identity: KnownIdentity, password: PasswordPermission?
    ) async throws -> OpenedSession {
        let rows = try await run(
            Self.openSession,
            [.application(session.application.id), .uuid(identity.uid), .uuid(identity.id)] + session.binds
                + [
                    .text(password?.hash.phc), .bytes(password?.attempts.bytes), .text(session.evidence.displayName),
                    .json(try JSONValue.object(session.evidence.profile).jsonText()),
                    .text(session.client.languages), .uuid(session.resumes),
                    .timestamp(session.authenticatedAt), .bool(session.provesIdentity),
                    .texts(session.evidence.proven.compactMap(\.email?.value)), .uuid(session.continues),
                    .bool(identity.isQuarantined),
                ])
        var row = try rows.firstOrConflict()
        let user = try row.nextUser()
        let providerUid: String = try row.next()
        let identityCreatedAt: Date = try row.next()
        let displayName: String? = try row.next()
        let profile = try JSONValue(jsonText: row.next())
        return OpenedSession(
            grant: SessionGrant(
                sessionID: session.id, uid: user.uid, authenticatedAt: try row.next(),
                expiresAt: try row.next(), methods: session.evidence.methods, provider: session.provider,
                providerUid: providerUid, email: user.email, phone: user.phone, profile: profile.object ?? [:]),
            user: user, identityID: identity.id, identityCreatedAt: identityCreatedAt, identityDisplayName: displayName,
            isNewAccount: false,
            shouldChangePassword: false)
    }

    private static let insertIdentity = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid, audit_key FROM accounts
             WHERE application_id = $1 AND uid = $2
               AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
               FOR NO KEY UPDATE
        ), identity AS (
            INSERT INTO identities
                   (application_id, id, uid, provider, provider_uid, email, email_verified, phone, phone_verified,
                    display_name, profile)
            SELECT $1, $3, uid, $4, $5, $6, $7, $8, $13, $9, $10 FROM account
            RETURNING id
        ), claimed AS (
            INSERT INTO addresses (application_id, kind, address, uid)
            SELECT $1, kind, address, uid FROM account, unnest($11::text[], $12::text[]) AS claim (kind, address)
             ORDER BY kind, address
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'identity.linked', sha256(audit_key || uuid_send(uid)), jsonb_build_object('provider', $4)
              FROM account
        )
        SELECT id FROM identity
        """)

    package func add(
        _ identity: NewIdentity, provenBy session: NewSession, to uid: UUID
    ) async throws -> KnownIdentity {
        let added = KnownIdentity(id: .v7(), uid: uid, status: .live)
        let shown = session.evidence.shown(verified: identity.showing)
        let rows = try await run(
            Self.insertIdentity,
            [
                .application(session.application.id), .uuid(uid), .uuid(added.id), .text(session.provider),
                .text(session.evidence.providerUid), .text(shown.email?.value), .bool(shown.emailVerified),
                .text(shown.phone?.value), .text(session.evidence.displayName),
                .json(try JSONValue.object(session.evidence.profile).jsonText()),
            ] + identity.claiming.binds + [.bool(shown.phoneVerified)])
        _ = try rows.firstOrConflict()
        return added
    }
}

extension NewSession {
    /// `$4` to `$10` of the statements that open a session.
    var binds: [Bind] {
        [
            .uuid(id), .texts(evidence.methods), .text(client.device), .text(client.address),
            .interval(application.policy.tokens.sessionLifetime), .bytes(refreshToken.hash),
            .interval(application.policy.tokens.refreshLifetime),
        ]
    }
}

/// The addresses that an identity shows.
struct ShownAddresses {
    let email: EmailAddress?
    let emailVerified: Bool
    let phone: PhoneNumber?
    let phoneVerified: Bool
}

extension VerifiedIdentity {
    /// Of each kind one that is the account's own, else one that the evidence names.
    func shown(verified own: [Address]) -> ShownAddresses {
        let named = addresses.map(\.address)
        let email = own.lazy.compactMap(\.email).first
        let phone = own.lazy.compactMap(\.phone).first
        return ShownAddresses(
            email: email ?? named.lazy.compactMap(\.email).first, emailVerified: email != nil,
            phone: phone ?? named.lazy.compactMap(\.phone).first, phoneVerified: phone != nil)
    }
}

extension [Address] {
    /// Kinds and values, for `unnest`.
    var binds: [Bind] { [.texts(map(\.kind.rawValue)), .texts(map(\.value))] }
}

extension Row {
    /// The next two columns, `kind` and `address`, both null for none.
    mutating func nextAddress() throws -> Address? {
        let kind: String? = try next()
        let value: String? = try next()
        guard let kind, let value else { return nil }
        return kind == Address.Kind.phone.rawValue
            ? PhoneNumber(value).map { .phone($0) } : EmailAddress(value).map { .email($0) }
    }
}
