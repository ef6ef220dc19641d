package import Accounts
package import Administration
internal import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: AccountSearchStore {
    package func hits(
        for term: SearchTerm, after position: [String]?, limit: Int, application: Application.ID
    ) async throws -> [SearchHit] {
        switch term {
        case .address(let address):
            try await hits(for: address, after: position, limit: limit, application: application)
        case .prefix(let prefix):
            try await hits(for: prefix, after: position, limit: limit, application: application)
        case .uid(let uid): Self.numbered([SearchHit(.uid, of: .account(uid))], after: position)
        case .identity(let id):
            try await hits(.identity, by: Self.selectOfIdentity, [.application(application), .uuid(id)], position)
        case .providerUid(let id, let provider):
            try await hits(
                .providerUid, by: Self.selectOfProviderUid,
                [.application(application), .text(provider), .text(id)], position)
        case .session(let id):
            try await hits(.session, by: Self.selectOfSession, [.application(application), .uuid(id)], position)
        case .receipt(let id):
            try await hits(.receipt, by: Self.selectOfReceipt, [.application(application), .uuid(id)], position)
        case .merge(let id):
            try await hits(.merge, by: Self.selectOfMerge, [.application(application), .uuid(id)], position)
        }
    }

    // MARK: - Ids

    private static let selectOfIdentity = Statement(
        .read, "SELECT uid FROM identities WHERE application_id = $1 AND id = $2")
    private static let selectOfProviderUid = Statement(
        .read, "SELECT uid FROM identities WHERE application_id = $1 AND provider = $2 AND provider_uid = $3")
    private static let selectOfSession = Statement(
        .read, "SELECT uid FROM sessions WHERE application_id = $1 AND id = $2")
    private static let selectOfReceipt = Statement(
        .read, "SELECT uid FROM erasures WHERE application_id = $1 AND receipt = $2")
    /// Both accounts, which are one unless the merge was undone.
    private static let selectOfMerge = Statement(
        .read, "SELECT unnest(ARRAY[survivor, absorbed]) FROM merges WHERE application_id = $1 AND id = $2")

    /// The accounts of a row that has the id; the position of a hit is its index.
    private func hits(
        _ match: SearchMatch, by statement: Statement, _ binds: [Bind], _ position: [String]?
    ) async throws -> [SearchHit] {
        let uids = try await run(statement, binds).decoded { try $0.next(UUID.self) }
        return Self.numbered(uids.map { SearchHit(match, of: .account($0)) }, after: position)
    }

    private static func numbered(_ hits: [SearchHit], after position: [String]?) -> [SearchHit] {
        let last = position?.first.flatMap { Int($0) } ?? -1
        return hits.enumerated().filter { $0.offset > last }.map { number, hit in
            SearchHit(hit.match, of: hit.subject, position: [String(number)])
        }
    }

    // MARK: - Addresses

    /// The owner of the address, the accounts that claim it, and the sign-ups that wait for its confirmation.
    ///
    /// A decoy (`NewRegistration.isDecoy`) is no sign-up: the address has an owner, who is found.
    private static let selectOfEmail = Statement(
        .read,
        """
        SELECT h.place, h.key, h.provider, h.display_name, h.created_at
          FROM (SELECT 0 AS place, d.uid AS key, NULL::text AS provider, NULL::text AS display_name,
                       NULL::timestamptz AS created_at
                  FROM addresses d
                 WHERE d.application_id = $1 AND d.kind = 'email' AND d.address = $2
                UNION ALL
                SELECT DISTINCT 1, i.uid, NULL::text, NULL::text, NULL::timestamptz
                  FROM identities i
                 WHERE i.application_id = $1 AND i.email = $2 AND NOT i.email_verified
                   AND NOT EXISTS (SELECT 1 FROM addresses o
                                    WHERE o.application_id = $1 AND o.kind = 'email' AND o.address = $2
                                      AND o.uid = i.uid)
                UNION ALL
                SELECT 2, r.id, r.provider, r.display_name, r.created_at
                  FROM registrations r
                 WHERE r.application_id = $1 AND r.address = $2 AND NOT r.is_decoy AND r.expires_at > now()) h
         WHERE (h.place, h.key) > ($3::int, $4::uuid)
         ORDER BY h.place, h.key
         LIMIT $5
        """)

    private static let selectOfPhone = Statement(
        .read,
        """
        SELECT h.place, h.key, NULL::text, NULL::text, NULL::timestamptz
          FROM (SELECT 0 AS place, d.uid AS key
                  FROM addresses d
                 WHERE d.application_id = $1 AND d.kind = 'phone' AND d.address = $2
                UNION ALL
                SELECT DISTINCT 1, i.uid
                  FROM identities i
                 WHERE i.application_id = $1 AND i.phone = $2 AND NOT i.phone_verified
                   AND NOT EXISTS (SELECT 1 FROM addresses o
                                    WHERE o.application_id = $1 AND o.kind = 'phone' AND o.address = $2
                                      AND o.uid = i.uid)) h
         WHERE (h.place, h.key) > ($3::int, $4::uuid)
         ORDER BY h.place, h.key
         LIMIT $5
        """)

    private func hits(
        for address: Address, after position: [String]?, limit: Int, application: Application.ID
    ) async throws -> [SearchHit] {
        let place = position?.first.flatMap { Int32($0) } ?? -1
        let key = position?.last.flatMap { UUID(uuidString: $0) }
        let statement = address.kind == .email ? Self.selectOfEmail : Self.selectOfPhone
        let binds: [Bind] = [
            .application(application), .text(address.value), .int4(place), .uuid(key ?? .zero), .int(limit),
        ]
        return try await run(statement, binds).decoded { row in
            let (place, key): (Int, UUID) = (try row.next(), try row.next())
            let (provider, name): (String?, String?) = (try row.next(), try row.next())
            let createdAt: Date? = try row.next()
            let position = [String(place), key.uuidString]
            guard place == 2, let provider, let createdAt else {
                return SearchHit(place == 0 ? .address : .claim, of: .account(key), position: position)
            }
            let signUp = PendingSignUp(
                provider: provider, address: address.value, displayName: name, createdAt: createdAt)
            return SearchHit(.registration, of: .signUp(signUp), position: position)
        }
    }

    // MARK: - Prefixes

    /// The first address of each account that begins with a text.
    private static let selectByAddressPrefix = Statement(
        .read,
        """
        SELECT d.uid, d.address
          FROM addresses d
         WHERE d.application_id = $1 AND d.kind = $2 AND d.address >= $3 AND d.address < $4
           AND (SELECT count(*) = 0 FROM addresses o
                 WHERE o.application_id = $1 AND o.uid = d.uid AND o.kind = $2 AND o.address >= $5
                   AND o.address < d.address)
         ORDER BY d.address
         LIMIT $6
        """)

    private static let selectByNamePrefix = Statement(
        .read,
        """
        SELECT a.uid, lower(a.display_name)
          FROM accounts a
         WHERE a.application_id = $1 AND a.display_name IS NOT NULL
           AND (lower(a.display_name) COLLATE "C", a.uid) > (lower($2::text), $3)
           AND lower(a.display_name) COLLATE "C" < lower($4::text)
         ORDER BY lower(a.display_name) COLLATE "C", a.uid
         LIMIT $5
        """)

    /// A character that no text has: a prefix followed by it sorts after every text that begins with the prefix.
    private static let last = "\u{10FFFF}"

    private func hits(
        for prefix: SearchPrefix, after position: [String]?, limit: Int, application: Application.ID
    ) async throws -> [SearchHit] {
        let sealed = SealingPlace(application: application, table: "accounts", column: "position", row: "search")
        var seen: (uid: UUID?, text: String)?
        if let position {
            // Its cursor is authenticated, so that only another key can make it unreadable.
            guard let bytes = position.first.flatMap({ [UInt8](hex: $0) }),
                let opened = try? sealing.open(bytes, at: sealed)
            else { throw AccountsError.invalidParameter("after", reason: "is not a cursor of this list") }
            let uid = UUID(uuidString: String(decoding: opened.prefix(36), as: UTF8.self))
            seen = (uid, String(decoding: opened.dropFirst(36), as: UTF8.self))
        }
        let end = prefix.text + Self.last
        let rows: Rows
        switch prefix.subject {
        case .email, .phone:
            rows = try await run(
                Self.selectByAddressPrefix,
                [
                    .application(application), .text(prefix.subject.rawValue),
                    // No address contains U+0001, so this bound excludes the address that was returned last.
                    .text(seen.map { $0.text + "\u{1}" } ?? prefix.text), .text(end), .text(prefix.text), .int(limit),
                ])
        case .name:
            rows = try await run(
                Self.selectByNamePrefix,
                [
                    .application(application), .text(seen?.text ?? prefix.text), .uuid(seen?.uid ?? .zero),
                    .text(end), .int(limit),
                ])
        }
        return try rows.decoded { row in
            let (uid, text): (UUID, String) = (try row.next(), try row.next())
            let position = try sealing.seal(Array((uid.uuidString + text).utf8), at: sealed).hex
            return SearchHit(.prefix, of: .account(uid), position: [position])
        }
    }
}
