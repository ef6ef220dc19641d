package import Accounts
package import Foundation
package import OpenID
internal import Postgres

extension SQLStore: GrantStore {
    private static let selectGrants = Statement(
        .read,
        """
        WITH used AS MATERIALIZED (
            SELECT s.client_id, min(s.created_at) AS since, max(greatest(t.at, s.last_used_at)) AS last_used_at,
                   (array_agg(s.address ORDER BY greatest(t.at, s.last_used_at) DESC))[1] AS address,
                   bool_or(s.ended_at IS NULL AND now() <
        """, endOfSession,
        """
                   ) AS is_live
              FROM sessions s
              LEFT JOIN LATERAL (
                   SELECT max(created_at) AS at FROM refresh_tokens
                    WHERE application_id = $1 AND session_id = s.id) t ON true
             WHERE s.application_id = $1 AND s.uid = $2 AND s.client_id IS NOT NULL
             GROUP BY s.client_id
        ), given AS MATERIALIZED (
            SELECT client_id, scopes, resources, granted_at FROM consents WHERE application_id = $1 AND uid = $2
        )
        SELECT coalesce(g.client_id, u.client_id), g.scopes, g.resources, coalesce(g.granted_at, u.since),
               u.last_used_at, u.address, coalesce(u.is_live, false), c.client_id IS NOT NULL,
        """, clientColumns,
        """
          FROM given g FULL JOIN used u ON u.client_id = g.client_id
          LEFT JOIN clients c ON c.application_id = $1 AND c.client_id = coalesce(g.client_id, u.client_id)
         ORDER BY 1
        """)

    package func grants(of uid: UUID, application: Application.ID) async throws -> [ClientGrant] {
        try await run(Self.selectGrants, [.application(application), .uuid(uid)]).decoded { row in
            var grant = ClientGrant(
                clientID: try row.next(), scopes: try row.next(), resources: try row.next(), grantedAt: try row.next(),
                lastUsedAt: try row.next(), lastAddress: try row.next(), isInUse: try row.next())
            if try row.next(Bool.self) { grant.stored = try row.nextStoredClient() }
            return grant
        }
    }

    /// Adds to a consent; if it already contains all of that, nothing changes or is recorded.
    private static let grantConsent = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid, audit_key FROM accounts
             WHERE application_id = $1 AND uid = $2
               AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
               FOR SHARE
        ), former AS MATERIALIZED (
            SELECT scopes, resources FROM consents WHERE application_id = $1 AND uid = $2 AND client_id = $3
        ), granted AS (
            INSERT INTO consents AS c (application_id, uid, client_id, scopes, resources, granted_at)
            SELECT $1, account.uid, $3, ARRAY(SELECT unnest($4::text[]) UNION SELECT unnest(former.scopes) ORDER BY 1),
                   ARRAY(SELECT unnest($5::text[]) UNION SELECT unnest(former.resources) ORDER BY 1), now()
              FROM account LEFT JOIN former ON true
            ON CONFLICT (application_id, uid, client_id) DO UPDATE
               SET scopes = excluded.scopes, resources = excluded.resources, granted_at = excluded.granted_at
             WHERE NOT (c.scopes @> excluded.scopes AND c.resources @> excluded.resources)
            RETURNING c.scopes, c.resources
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'consent.granted', sha256(account.audit_key || uuid_send(account.uid)),
                   jsonb_build_object('client', $3::text, 'scopes', granted.scopes, 'resources', granted.resources)
              FROM account, granted
        )
        SELECT NOT EXISTS (SELECT 1 FROM former) FROM granted
        """)

    package func grantConsent(
        scopes: [String], resources: [String], to client: String, by uid: UUID, application: Application.ID
    ) async throws -> Bool {
        let binds: [Bind] = [.application(application), .uuid(uid), .text(client), .texts(scopes), .texts(resources)]
        var row = try await run(Self.grantConsent, binds).first
        return try row?.next() ?? false
    }

    /// A code that only expired would be good for a redemption that began earlier and waits for it, because that
    /// compares with the time when it began.
    private static let deleteCodes = Statement(
        .write,
        """
        DELETE FROM authorization_codes
         WHERE application_id = $1 AND uid = $2 AND client_id = $3 AND redeemed_at IS NULL
        """)

    private static let deleteDevices = Statement(
        .write,
        """
        DELETE FROM handoffs
         WHERE application_id = $1 AND uid = $2 AND client_id = $3 AND kind = 'device' AND state = 'confirmed'
        """)

    package func deleteCodes(of uid: UUID, to client: String, application: Application.ID) async throws {
        let binds: [Bind] = [.application(application), .uuid(uid), .text(client)]
        try await write(Self.deleteCodes, binds)
        try await write(Self.deleteDevices, binds)
    }

    private static let deleteConsent = Statement(
        .write,
        """
        WITH consent AS (
            DELETE FROM consents WHERE application_id = $1 AND uid = $2 AND client_id = $3 RETURNING client_id
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'consent.revoked', sha256(a.audit_key || uuid_send(a.uid)),
                   jsonb_build_object('client', c.client_id)
              FROM consent c JOIN accounts a ON a.application_id = $1 AND a.uid = $2
        )
        SELECT EXISTS (SELECT 1 FROM consent)
               OR EXISTS (SELECT 1 FROM sessions s
                           WHERE s.application_id = $1 AND s.uid = $2 AND s.client_id = $3 AND s.ended_at IS NULL
                             AND now() <
        """, endOfSession, ")")

    package func deleteConsent(of uid: UUID, to client: String, application: Application.ID) async throws -> Bool {
        var row = try await one(Self.deleteConsent, [.application(application), .uuid(uid), .text(client)])
        return try row.next()
    }
}
