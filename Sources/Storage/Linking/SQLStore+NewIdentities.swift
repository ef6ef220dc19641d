package import Accounts
package import Foundation
package import Postgres
internal import ProviderKit

/// Identities that are added to an account, which an earlier statement must have locked, so that their count is current.
extension SQLStore {
    /// Adds an identity without opening a session.
    static let addIdentity = Statement(
        .write, newIdentity,
        """
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'identity.linked', sha256(audit_key || uuid_send(uid)), jsonb_build_object('provider', $11) || $34
              FROM account
        )
        SELECT id FROM identity
        """)

    /// Adds an identity, and opens a session with it as `openSession` does with an identity that is there.
    package static let openSessionByNewIdentity = Statement(
        .write, newIdentity, appSession, openedSession, auditedWithSession, JoinedUsers.userColumns, openedColumns,
        JoinedUsers.users, ofAccount)

    /// The same for a browser, as `openBrowserSession` does.
    package static let openBrowserSessionByNewIdentity = Statement(
        .write, newIdentity, browserSession, openedSession, auditedWithSession, JoinedUsers.userColumns, openedColumns,
        JoinedUsers.users, ofAccount)

    /// The binds have the places that the parts of `openSession` expect; those of a password have other meanings here.
    private static let newIdentity: StaticString = """
        WITH account AS MATERIALIZED (
            SELECT uid, audit_key, locale, roles, claims FROM accounts
             WHERE application_id = $1 AND uid = $2
               AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
               AND (SELECT count(*) FROM identities
                     WHERE application_id = $1 AND uid = $2 AND NOT is_guest) < $32
               FOR NO KEY UPDATE
        ), identity AS (
            INSERT INTO identities
                   (application_id, id, uid, provider, provider_uid, email, email_verified, phone, phone_verified,
                    display_name, profile, last_used_at)
            SELECT $1, $3, uid, $11, $27, $28, $18, $29, $21, $13, $14, CASE WHEN $33 THEN now() END FROM account
            RETURNING id, provider, provider_uid, created_at, display_name, profile
        ), claimed AS (
            INSERT INTO addresses (application_id, kind, address, uid)
            SELECT $1, kind, address, uid FROM account, unnest($30::text[], $31::text[]) AS claim (kind, address)
             ORDER BY kind, address
        """

    private static let auditedWithSession: StaticString = """
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
            Self.addIdentity, session.binds(adding: identity, id: added.id, recording: record, to: uid))
        count(.links, label: session.provider, in: session.application.id)
        return added
    }

    package func openSession(
        _ session: NewSession, adding identity: NewIdentity, id: UUID, recording record: EvidenceRecord, to uid: UUID
    ) async throws -> OpenedSession {
        let isOfBrowser = session.client.cookie != nil
        let row = try await one(
            isOfBrowser ? Self.openBrowserSessionByNewIdentity : Self.openSessionByNewIdentity,
            session.binds(adding: identity, id: id, recording: record, to: uid))
        count(.links, label: session.provider, in: session.application.id)
        if session.isSignIn { count(.signIns, label: session.provider, in: session.application.id) }
        var opened = try row.opened(session, by: id)
        // The columns are of the account as it was before the statement.
        opened.show(identity)
        return opened
    }
}

extension NewSession {
    /// The binds of the statements that add an identity.
    fileprivate func binds(
        adding identity: NewIdentity, id: UUID, recording record: EvidenceRecord, to uid: UUID
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
                .int(application.policy.maximumIdentities), .bool(provesIdentity), .object(record.details),
            ]
    }
}

extension OpenedSession {
    /// Adds a new identity to what the user shows.
    fileprivate mutating func show(_ identity: NewIdentity) {
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
