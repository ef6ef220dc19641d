package import Accounts
package import Foundation
package import OpenID
internal import Postgres

/// Installations of apps that present their secrets.
extension SQLStore {
    /// Reads an installation with its session, and notes the use of that at most once a minute.
    ///
    /// Each use puts off the end of an installation that is not used any more; it is the end of its session.
    static let useInstance = Statement(
        .write,
        """
        WITH instance AS MATERIALIZED (
            SELECT session_id, expires_at > now() AS is_awaited FROM clients
             WHERE application_id = $1 AND client_id = $2 AND secret_hash = $3 AND issuer = $4 AND deleted_at IS NULL
        ), session AS MATERIALIZED (
            SELECT id, uid, identity_id, authenticated_at, expires_at, generation, methods, is_borrowed FROM sessions
             WHERE application_id = $1 AND id = (SELECT session_id FROM instance) AND ended_at IS NULL
               AND expires_at > now()
        ), noted AS (
            UPDATE sessions s SET last_used_at = now(), address = $5, expires_at = now() + $6::interval
              FROM session
             WHERE s.application_id = $1 AND s.id = session.id AND s.ended_at IS NULL
               AND (s.last_used_at < now() - interval '1 minute' OR s.expires_at < now() + $6::interval / 2)
        )
        SELECT
        """, clientColumns,
        """
               , s.id, a.uid, s.authenticated_at, s.expires_at, s.generation, s.methods, i.provider, i.provider_uid,
        """, firstAddresses,
        """
               , i.profile::text, a.roles, a.claims::text, s.is_borrowed, i.is_guest,
               (SELECT g.scopes FROM consents g WHERE g.application_id = $1 AND g.uid = a.uid AND g.client_id = $2)
          FROM instance n
          JOIN clients c ON c.application_id = $1 AND c.client_id = $2
          LEFT JOIN session s ON true
          LEFT JOIN accounts a
            ON a.application_id = $1 AND a.uid = s.uid
               AND a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
          LEFT JOIN identities i ON i.application_id = $1 AND i.id = s.identity_id
         WHERE n.session_id IS NULL AND n.is_awaited OR a.uid IS NOT NULL AND i.id IS NOT NULL
        """)

    package func instance(_ use: InstanceUse, application: Application.ID) async throws -> StoredClient? {
        let binds: [Bind] = [
            .application(application), .text(use.id), .bytes(use.secret), .text(use.issuer), .text(use.address),
            .interval(use.idle),
        ]
        guard var row = try await run(Self.useInstance, binds).first else { return nil }
        var client = try row.nextStoredClient()
        var probe = row
        guard case .instance(var instance, let metadata) = client.registration, try probe.next(UUID?.self) != nil else {
            return client
        }
        var grant = try row.nextGrant()
        grant.isBorrowed = try row.next()
        instance.signedIn = InstanceSession(
            grant: grant, isGuest: try row.next(), consented: try row.next([String]?.self) ?? [])
        client.registration = .instance(instance, metadata)
        return client
    }

    private static let selectOwner = Statement(
        .read,
        """
        SELECT a.display_name,
               (SELECT d.address FROM addresses d
                 WHERE d.application_id = $1 AND d.uid = a.uid
                 ORDER BY d.kind, d.verified_at, d.address LIMIT 1)
          FROM accounts a
         WHERE a.application_id = $1 AND a.uid = $2
           AND a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
        """)

    package func owner(_ uid: UUID, application: Application.ID) async throws -> InstanceOwner? {
        guard var row = try await run(Self.selectOwner, [.application(application), .uuid(uid)]).first else {
            return nil
        }
        return InstanceOwner(name: try row.next(), address: try row.next())
    }
}
