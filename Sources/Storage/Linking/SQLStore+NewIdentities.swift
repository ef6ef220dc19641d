package import Accounts
package import Foundation
package import Postgres
internal import ProviderKit

/// Adds identities to accounts.
///
/// An earlier statement must have locked the account, so that the count of its identities is current, and the session
/// that requests the link, so that it does not end before the transaction.
extension SQLStore {
    /// Adds an identity without opening a session.
    static let addIdentity = Statement(
        .write, newIdentity,
        """
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'identity.linked', sha256(audit_key || uuid_send(uid)),
                   jsonb_build_object('provider', $11) || $34
              FROM account
        )
        SELECT id FROM identity
        """)

    /// Adds an identity, and opens a session with it as `openSession` does with an existing identity.
    package static let openSessionByNewIdentity = Statement(
        .write, newIdentity, appSession, afterOpening, linkAndSessionAudited, JoinedUsers.userColumns, openedColumns,
        JoinedUsers.users, ofAccount)

    /// Adds an identity, and opens or renews a browser's session with it as `openBrowserSession` does.
    static let openBrowserSessionByNewIdentity = Statement(
        .write, newIdentity, browserSession, afterOpening, linkAndSessionAudited, JoinedUsers.userColumns,
        openedColumns, JoinedUsers.users, ofAccount)

    /// The binds `$1` to `$26` are those of `openSession`, except three that only `provenIdentity` uses there: `$11` is
    /// the provider, and `$18` and `$21` are whether the e-mail address and the phone number are verified.
    ///
    /// If a session `$35` is given, it must be live, and the account must not be a guest's.
    ///
    /// If the transaction has waited for a merge, the identity is later than the merge: it must not look like one that
    /// the account had before.
    private static let newIdentity: StaticString = """
        WITH account AS MATERIALIZED (
            SELECT uid, audit_key, locale, roles, claims,
                   (SELECT max(merged_at) FROM merges
                     WHERE application_id = $1 AND survivor = $2 AND undone_at IS NULL) AS merged_at
              FROM accounts
             WHERE application_id = $1 AND uid = $2
               AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
               AND (SELECT count(*) < $32 AND ($35::uuid IS NULL OR count(*) > 0) FROM identities
                     WHERE application_id = $1 AND uid = $2 AND NOT is_guest)
               AND ($35 IS NULL OR EXISTS (
                   SELECT 1 FROM sessions
                    WHERE application_id = $1 AND id = $35 AND uid = $2 AND ended_at IS NULL AND expires_at > now()))
               FOR NO KEY UPDATE
        ), identity AS (
            INSERT INTO identities
                   (application_id, id, uid, provider, provider_uid, email, email_verified, phone, phone_verified,
                    display_name, profile, last_used_at, created_at)
            SELECT $1, $3, uid, $11, $27, $28, $18, $29, $21, $13, $14, CASE WHEN $33 THEN now() END,
                   greatest(now(), merged_at + interval '1 microsecond')
              FROM account
            RETURNING id, provider, provider_uid, created_at, display_name, profile
        ), claimed AS (
            INSERT INTO addresses (application_id, kind, address, uid)
            SELECT $1, kind, address, uid FROM account, unnest($30::text[], $31::text[]) AS claim (kind, address)
             ORDER BY kind, address
        """

    private static let linkAndSessionAudited: StaticString = """
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'identity.linked', sha256(audit_key || uuid_send(uid)), NULL::uuid,
                   jsonb_build_object('provider', $11) || $34
              FROM account
            UNION ALL
            SELECT $1, 'session.opened', sha256(account.audit_key || uuid_send(account.uid)),
                   session_pseudonym(account.audit_key, session.id),
                   jsonb_strip_nulls(
                       jsonb_build_object(
                           'provider', identity.provider, 'kind', session.kind, 'dialect', session.dialect))
              FROM account, identity, session
        )
        """

    package func add(
        _ identity: NewIdentity, provenBy session: NewSession, recording record: EvidenceRecord, to uid: UUID
    ) async throws -> KnownIdentity {
        let added = KnownIdentity(id: .v7(), uid: uid, status: .live)
        try await writeOrConflict(
            Self.addIdentity,
            session.binds(adding: identity, id: added.id, isUsed: false, recording: record, to: uid))
        count(.links, label: session.provider, in: session.application.id)
        return added
    }

    package func openSession(
        _ session: NewSession, adding identity: NewIdentity, id: UUID, recording record: EvidenceRecord, to uid: UUID
    ) async throws -> OpenedSession {
        let row = try await one(
            session.client.cookie == nil ? Self.openSessionByNewIdentity : Self.openBrowserSessionByNewIdentity,
            session.binds(adding: identity, id: id, isUsed: session.provesIdentity, recording: record, to: uid))
        count(.links, label: session.provider, in: session.application.id)
        if session.isSignIn { count(.signIns, label: session.provider, in: session.application.id) }
        var opened = try row.opened(session, by: id)
        // The statement reads the account as it was before the identity was added.
        opened.add(identity)
        return opened
    }
}

extension NewSession {
    /// The binds of the statements that add an identity.
    fileprivate func binds(
        adding identity: NewIdentity, id: UUID, isUsed: Bool, recording record: EvidenceRecord, to uid: UUID
    ) throws -> [Bind] {
        let shown = evidence.shown(verified: identity.showing)
        return try [.application(application.id), .uuid(uid), .uuid(id)] + binds
            + [
                .text(provider), .bytes(nil), .text(evidence.displayName), .object(evidence.profile),
                .text(client.languages), .uuid(resumes), .timestamp(authenticatedAt), .bool(shown.emailVerified),
                .texts(evidence.proven.compactMap(\.email?.value)), .uuid(continues), .bool(shown.phoneVerified),
            ] + clientBinds + [
                .text(evidence.providerUid), .text(shown.email?.value), .text(shown.phone?.value),
            ] + identity.claiming.binds + [
                .int(application.policy.maximumIdentities), .bool(isUsed), .object(record.details),
                .uuid(linkingSession),
            ]
    }
}

extension OpenedSession {
    /// Adds a new identity to what is told about the user.
    fileprivate mutating func add(_ identity: NewIdentity) {
        user.isAnonymous = false
        user.email = user.email ?? identity.claiming.lazy.compactMap(\.email).first?.value
        user.phone = user.phone ?? identity.claiming.lazy.compactMap(\.phone).first?.value
        if !user.providers.contains(grant.provider) { user.providers.append(grant.provider) }
        (grant.email, grant.phone) = (user.email, user.phone)
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
    /// The email address and phone number that the identity shows.
    ///
    /// For each kind, this is an address that the account owns if there is one, and otherwise an address in the
    /// evidence.
    func shown(verified own: [Address]) -> ShownAddresses {
        let named = addresses.map(\.address)
        let email = own.lazy.compactMap(\.email).first
        let phone = own.lazy.compactMap(\.phone).first
        return ShownAddresses(
            email: email ?? named.lazy.compactMap(\.email).first, emailVerified: email != nil,
            phone: phone ?? named.lazy.compactMap(\.phone).first, phoneVerified: phone != nil)
    }
}
