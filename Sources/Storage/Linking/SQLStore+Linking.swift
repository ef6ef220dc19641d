package import Accounts
internal import Foundation
package import Postgres
package import ProviderKit

extension SQLStore: LinkingStateStore {
    /// Selects one row for the identity, and one for each owned address, with the contact of its owner if the identity
    /// is unknown and may therefore join the owner's account.
    private static let linkingRows: StaticString = """
        SELECT i.id, NULL::text, NULL::text, a.uid, a.disabled_at IS NOT NULL, a.purge_after, false,
               i.quarantined_at IS NOT NULL, false, NULL::text, NULL::text[], NULL::boolean
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
                           OR d.kind = 'phone' AND q.phone = d.address AND q.phone_verified)), false),
               NOT known.is_known AND (
                   SELECT count(*) FROM identities n
                    WHERE n.application_id = $1 AND n.uid = d.uid AND NOT n.is_guest) >= $7,
               a.locale,
               CASE WHEN NOT known.is_known THEN ARRAY(
                   SELECT c.kind || ' ' || c.address FROM addresses c
                    WHERE c.application_id = $1 AND c.uid = d.uid AND NOT c.is_silent
                    ORDER BY c.verified_at) END,
               NULL::boolean
          FROM unnest($4::text[], $5::text[]) AS claimed (kind, address)
          JOIN addresses d
            ON d.application_id = $1 AND d.kind = claimed.kind AND d.address = claimed.address
          JOIN accounts a ON a.application_id = $1 AND a.uid = d.uid
         CROSS JOIN (SELECT EXISTS (
                   SELECT 1 FROM identities k
                    WHERE k.application_id = $1 AND k.provider = $2 AND k.provider_uid = $3) AS is_known) AS known
        """

    package static let selectLinkingState = Statement(.read, linkingRows)

    /// Also selects a row for the requesting account, unless its session has ended.
    private static let selectLinkState = Statement(
        .read, linkingRows,
        """
        UNION ALL
        SELECT NULL::uuid, NULL::text, NULL::text, a.uid, false, NULL::timestamptz, false, false,
               (SELECT count(*) FROM identities n
                 WHERE n.application_id = $1 AND n.uid = a.uid AND NOT n.is_guest) >= $7,
               a.locale,
               ARRAY(SELECT c.kind || ' ' || c.address FROM addresses c
                      WHERE c.application_id = $1 AND c.uid = a.uid AND NOT c.is_silent
                      ORDER BY c.verified_at),
               NOT EXISTS (SELECT 1 FROM identities n
                            WHERE n.application_id = $1 AND n.uid = a.uid AND NOT n.is_guest)
          FROM accounts a
          JOIN sessions s ON s.application_id = $1 AND s.id = $9 AND s.uid = a.uid
                         AND s.ended_at IS NULL AND s.expires_at > now()
         WHERE a.application_id = $1 AND a.uid = $8
           AND a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
        """)

    package func linkingReading(
        for evidence: VerifiedIdentity, of provider: String, requestedBy principal: Principal?,
        in application: Application
    ) async throws -> LinkingReading {
        let (statement, binds) = Self.linkingStatement(evidence, provider, principal, in: application)
        return try await run(statement, binds).linkingReading()
    }

    package func require(
        _ stored: LinkingState, for evidence: VerifiedIdentity, of provider: String,
        requestedBy principal: Principal?, in application: Application
    ) async throws {
        let (statement, binds) = Self.linkingStatement(evidence, provider, principal, in: application)
        try await write(statement, binds) { rows in
            guard try rows.linkingReading().stored == stored else { throw StoreConflict() }
        }
    }

    private static func linkingStatement(
        _ evidence: VerifiedIdentity, _ provider: String, _ principal: Principal?, in application: Application
    ) -> (Statement, [Bind]) {
        let binds =
            [.application(application.id), .text(provider), .text(evidence.providerUid)]
            + evidence.addresses.map(\.address).binds
            + [.interval(application.providers.phoneIdleLimit), .int(application.policy.maximumIdentities)]
        guard let principal else { return (selectLinkingState, binds) }
        return (selectLinkState, binds + [.uuid(principal.uid), .uuid(principal.sessionID)])
    }
}

extension [Address] {
    /// The kinds and the values, as two arrays for `unnest`.
    var binds: [Bind] { [.texts(map(\.kind.rawValue)), .texts(map(\.value))] }
}

extension Rows {
    fileprivate func linkingReading() throws -> LinkingReading {
        var state = LinkingState()
        var contacts: [UUID: OwnerContact] = [:]
        for var row in self {
            let identity: UUID? = try row.next()
            let address = try row.nextAddress()
            let uid: UUID = try row.next()
            let status = try row.nextStatus()
            let isIdle: Bool = try row.next()
            let isQuarantined: Bool = try row.next()
            let isFull: Bool = try row.next()
            let languages: String? = try row.next()
            if let contact: [String] = try row.next() {
                contacts[uid] = OwnerContact(addresses: contact.compactMap(Address.init(joined:)), languages: languages)
            }
            if let identity {
                state.identity = KnownIdentity(id: identity, uid: uid, status: status, isQuarantined: isQuarantined)
            } else if let address {
                var owner = AddressOwner(address: address, uid: uid, status: status, isIdle: isIdle)
                owner.needsOtherSignIn = isQuarantined
                owner.isFull = isFull
                state.owners.append(owner)
            } else {
                state.requester = RequestingAccount(uid: uid, isGuest: try row.next(), isFull: isFull)
            }
        }
        // Readings are compared, and the statement returns the rows in any order.
        state.owners.sort {
            ($0.address.kind.rawValue, $0.address.value) < ($1.address.kind.rawValue, $1.address.value)
        }
        return LinkingReading(state, contacts: contacts)
    }
}

extension Address {
    /// Parses `kind`, a space, and the address.
    fileprivate init?(joined text: String) {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        self.init(kind: parts[0], value: parts[1])
    }

    /// Converts the values of the columns `kind` and `address`.
    init?(kind: String, value: String) {
        let address: Address? =
            kind == Kind.phone.rawValue
            ? PhoneNumber(value).map { .phone($0) } : EmailAddress(value).map { .email($0) }
        guard let address else { return nil }
        self = address
    }
}

extension Row {
    /// The next two columns, `kind` and `address`; `nil` if they are null.
    mutating func nextAddress() throws -> Address? {
        let kind: String? = try next()
        let value: String? = try next()
        guard let kind, let value else { return nil }
        return Address(kind: kind, value: value)
    }
}
