package import Accounts
package import Administration
internal import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: ServiceKeyStore {
    private static let columns: StaticString = """
        k.id, k.name, k.scopes, k.clients, k.created_at, k.expires_at, k.revoked_at, k.last_used_at
        """

    /// Finds a live key by its secret, and notes its use at most once a minute.
    private static let useKey = Statement(
        .write,
        """
        WITH used AS (
            UPDATE service_keys SET last_used_at = now()
             WHERE application_id = $1 AND id = $2 AND revoked_at IS NULL AND expires_at > now()
               AND (hash = $3 OR (previous_hash = $3 AND previous_until > now()))
               AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
        )
        SELECT
        """, columns,
        """
          FROM service_keys k
         WHERE k.application_id = $1 AND k.id = $2 AND k.revoked_at IS NULL AND k.expires_at > now()
           AND (k.hash = $3 OR (k.previous_hash = $3 AND k.previous_until > now()))
        """)

    package func use(_ secret: ServiceKeySecret) async throws -> ServiceKey? {
        try await run(Self.useKey, [.application(secret.application), .text(secret.id), .bytes(secret.hash)])
            .decoded { try $0.nextServiceKey() }.first
    }

    private static let selectKeys = Statement(
        .read, "SELECT", columns,
        """
          FROM service_keys k
         WHERE k.application_id = $1
         ORDER BY k.created_at DESC, k.id
        """)

    package func serviceKeys(of application: Application.ID) async throws -> [ServiceKey] {
        try await run(Self.selectKeys, [.application(application)]).decoded { try $0.nextServiceKey() }
    }

    private static let insertKey = Statement(
        .write,
        """
        WITH k AS (
            INSERT INTO service_keys (application_id, id, name, scopes, clients, hash, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, now() + $7::interval)
            RETURNING id, name, scopes, clients, created_at, expires_at, revoked_at, last_used_at
        ), audited AS (
            INSERT INTO audit_events (application_id, event, details)
            SELECT $1, 'service-key.created',
                   $8::jsonb || jsonb_build_object('key', id, 'scopes', scopes, 'expiresAt', rfc3339(expires_at))
              FROM k
        )
        SELECT
        """, columns, " FROM k")

    package func insert(_ key: NewServiceKey, by act: AdministrativeAct) async throws -> ServiceKey {
        var row = try await one(
            Self.insertKey,
            [
                .application(key.secret.application), .text(key.secret.id), .text(key.name),
                .texts(key.scopes.sorted().map(\.rawValue)), .texts(key.clients), .bytes(key.secret.hash),
                .interval(key.lifetime), try .act(act),
            ])
        return try row.nextServiceKey()
    }

    private static let selectHash = Statement(
        .read,
        """
        SELECT hash FROM service_keys
         WHERE application_id = $1 AND id = $2 AND revoked_at IS NULL AND expires_at > now()
        """)

    package func secretHash(ofKey id: String, application: Application.ID) async throws -> [UInt8]? {
        var row = try await run(Self.selectHash, [.application(application), .text(id)]).first
        return try row?.next()
    }

    private static let rotateKey = Statement(
        .write,
        """
        WITH k AS (
            UPDATE service_keys SET hash = $3, previous_hash = hash, previous_until = clock.now + $5::interval
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND id = $2 AND hash = $4 AND revoked_at IS NULL AND expires_at > clock.now
            RETURNING id, name, scopes, clients, created_at, expires_at, revoked_at, last_used_at
        ), audited AS (
            INSERT INTO audit_events (application_id, event, details)
            SELECT $1, 'service-key.rotated', $6::jsonb || jsonb_build_object('key', id) FROM k
        )
        SELECT
        """, columns, " FROM k")

    package func rotate(
        to secret: ServiceKeySecret, replacing seen: [UInt8], overlap: Duration, by act: AdministrativeAct
    ) async throws -> ServiceKey {
        var row = try await one(
            Self.rotateKey,
            [
                .application(secret.application), .text(secret.id), .bytes(secret.hash), .bytes(seen),
                .interval(overlap), try .act(act),
            ])
        return try row.nextServiceKey()
    }

    private static let revokeKey = Statement(
        .write,
        """
        WITH revoked AS (
            UPDATE service_keys SET revoked_at = now()
             WHERE application_id = $1 AND id = $2 AND revoked_at IS NULL
            RETURNING id
        )
        INSERT INTO audit_events (application_id, event, details)
        SELECT $1, 'service-key.revoked', $3::jsonb || jsonb_build_object('key', id) FROM revoked
        """)

    private static let selectKey = Statement(
        .read, "SELECT", columns,
        """
          FROM service_keys k
         WHERE k.application_id = $1 AND k.id = $2
        """)

    package func revoke(
        _ id: String, by act: AdministrativeAct, application: Application.ID
    ) async throws -> ServiceKey? {
        // A second statement sees what a concurrent call has written that the first one waited for.
        try await write(Self.revokeKey, [.application(application), .text(id), try .act(act)])
        return try await run(Self.selectKey, [.application(application), .text(id)])
            .decoded { try $0.nextServiceKey() }.first
    }
}

extension Bind {
    /// The details of an act, to which a statement adds what has changed.
    static func act(_ act: AdministrativeAct) throws -> Bind { try .object(act.details) }
}

extension Row {
    fileprivate mutating func nextServiceKey() throws -> ServiceKey {
        let (id, name, scopes): (String, String, [String]) = (try next(), try next(), try next())
        return ServiceKey(
            id: id, name: name, scopes: Set(scopes.compactMap(AdminScope.init(rawValue:))), clients: try next(),
            createdAt: try next(), expiresAt: try next(), revokedAt: try next(), lastUsedAt: try next())
    }
}
