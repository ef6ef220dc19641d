package import Accounts
package import Foundation
package import Postgres
package import ProviderKit

extension SQLStore: LinkingStateStore {
    package static let selectLinkingState = Statement(
        .read,
        """
        SELECT i.id, NULL::text, NULL::text, a.uid, a.disabled_at IS NOT NULL, a.purge_after, false,
               i.quarantined_at IS NOT NULL
          FROM identities i
          JOIN accounts a ON a.application_id = $1 AND a.uid = i.uid
         WHERE i.application_id = $1 AND i.provider = $2 AND i.provider_uid = $3
        UNION ALL
        SELECT NULL::uuid, d.kind, d.address, a.uid, a.disabled_at IS NOT NULL, a.purge_after,
               d.kind = 'phone' AND d.verified_at < now() - $6::interval AND NOT EXISTS (
                   SELECT 1 FROM identities p
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
          JOIN accounts a ON a.application_id = $1 AND a.uid = d.uid
        """)

    package func linkingState(
        for evidence: VerifiedIdentity, provider: String, idleLimit: Duration, application: Application.ID
    ) async throws -> LinkingState {
        let rows = try await run(
            Self.selectLinkingState,
            [.application(application), .text(provider), .text(evidence.providerUid)]
                + evidence.addresses.map(\.address).binds + [.interval(idleLimit)])
        var state = LinkingState()
        for var row in rows {
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
        try await writeOrConflict(
            Self.insertIdentity,
            [
                .application(session.application.id), .uuid(uid), .uuid(added.id), .text(session.provider),
                .text(session.evidence.providerUid), .text(shown.email?.value), .bool(shown.emailVerified),
                .text(shown.phone?.value), .text(session.evidence.displayName),
                .json(try JSONValue.object(session.evidence.profile).jsonText()),
            ] + identity.claiming.binds + [.bool(shown.phoneVerified)])
        return added
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

extension [Address] {
    /// The kinds and the values, as two arrays for `unnest`.
    var binds: [Bind] { [.texts(map(\.kind.rawValue)), .texts(map(\.value))] }
}

extension Row {
    /// The next two columns, `kind` and `address`; `nil` if they are null.
    mutating func nextAddress() throws -> Address? {
        let kind: String? = try next()
        let value: String? = try next()
        guard let kind, let value else { return nil }
        return kind == Address.Kind.phone.rawValue
            ? PhoneNumber(value).map { .phone($0) } : EmailAddress(value).map { .email($0) }
    }
}
