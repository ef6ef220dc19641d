package import Accounts
package import Foundation
package import OpenID
internal import Postgres
package import ProviderKit

/// Clients that register themselves.
extension SQLStore: ClientRegistrationStore {
    /// Stores a client in a free slot of its quota, if there is one.
    ///
    /// If two registrations choose the same slot, a unique index refuses one of them, which is then repeated. The
    /// random `$14` makes that rare. Instances free their slots after an hour, or at the first sign-in.
    static let registerClient = Statement(
        .write,
        """
        WITH freed AS (
            UPDATE clients SET slot = NULL
             WHERE application_id = $1 AND quota = $12 AND slot IS NOT NULL AND software IS NOT NULL
               AND (uid IS NOT NULL OR created_at < now() - interval '1 hour')
            RETURNING client_id
        ), free AS MATERIALIZED (
            SELECT number FROM generate_series(0, $13::int - 1) AS number
             WHERE NOT EXISTS (SELECT 1 FROM clients c
                                WHERE c.application_id = $1 AND c.quota = $12 AND c.slot = number
                                  AND c.client_id <> ALL (ARRAY(SELECT client_id FROM freed)))
             ORDER BY hashint8extended(number, $14)
             LIMIT 1
        ), registered AS (
            INSERT INTO clients
                   (application_id, client_id, issuer, metadata, secret_hash, registration_hash, software, device_type,
                    device_name, logout_lane, expires_at, quota, slot)
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + $11::interval, $12, number
              FROM free
            RETURNING created_at
        ), audited AS (
            INSERT INTO audit_events (application_id, event, details)
            SELECT $1, 'client.registered', jsonb_strip_nulls(jsonb_build_object('client', $2::text, 'software', $7::text))
              FROM registered
        )
        SELECT created_at FROM registered
        """)

    package func register(_ client: NewClient, application: Application.ID) async throws -> Date? {
        let (metadata, instance) = try client.registration.columns
        let binds: [Bind] = [
            .application(application), .text(client.id), .text(client.issuer), .json(metadata), .bytes(client.secret),
            .bytes(client.registrationToken), .text(instance?.software), .text(instance?.deviceType),
            .text(instance?.deviceName), .text(client.logoutLane), .interval(client.lifetime),
            .bytes(client.quota.name), .int(client.quota.most), .int(.random(in: 0...Int(Int32.max))),
        ]
        var rows = try await run(Self.registerClient, binds)
        // A statement that has waited for another registration does not see the slots that this has freed.
        if rows.isEmpty { rows = try await run(Self.registerClient, binds) }
        var row = rows.first
        return try row?.next()
    }

    private static let selectByToken = Statement(
        .read, "SELECT", clientColumns,
        """
          FROM clients c
         WHERE c.application_id = $1 AND c.client_id = $2 AND c.registration_hash = $3 AND
        """, isClientLive)

    package func storedClient(
        _ id: String, registrationToken: [UInt8], application: Application.ID
    ) async throws -> StoredClient? {
        let binds: [Bind] = [.application(application), .text(id), .bytes(registrationToken)]
        return try await run(Self.selectByToken, binds).decoded { try $0.nextStoredClient() }.first
    }

    /// The row stays until its sessions have ended (`ExpiredRows`); `deleted_at` lets only the first call succeed.
    private static let deleteClient = Statement(
        .write,
        """
        WITH gone AS (
            UPDATE clients c SET expires_at = now(), deleted_at = now()
             WHERE c.application_id = $1 AND c.client_id = $2 AND c.deleted_at IS NULL
               AND c.registration_hash = coalesce($3, c.registration_hash) AND
        """, isClientLive,
        """
            RETURNING client_id, software, session_id, uid
        ), audited AS (
            INSERT INTO audit_events (application_id, event, details)
            SELECT $1, 'client.deleted',
                   $4::jsonb || jsonb_strip_nulls(jsonb_build_object('client', client_id, 'software', software))
              FROM gone
        )
        SELECT session_id, uid FROM gone
        """)

    package func deleteClient(
        _ id: String, registrationToken: [UInt8]?, recording details: [String: JSONValue], application: Application.ID
    ) async throws -> DeletedClient? {
        let binds: [Bind] = [
            .application(application), .text(id), .bytes(registrationToken), try .object(details),
        ]
        var rows = try await run(Self.deleteClient, binds)
        // A statement that has waited for the first sign-in on an instance does not see the session that it has opened.
        if rows.isEmpty { rows = try await run(Self.deleteClient, binds) }
        return try rows.decoded { row in
            guard let session = try row.next(UUID?.self), let account = try row.next(UUID?.self) else {
                return DeletedClient(session: nil)
            }
            return DeletedClient(session: (session, account))
        }.first
    }

    /// Ends sessions of registered clients that are deleted or have expired, at most `$2`.
    ///
    /// Their clients get no logout tokens, because they no longer exist.
    static let endSessionsOfDeletedClients = Statement(
        .write,
        """
        WITH ended AS (
            UPDATE sessions SET ended_at = now(), end_reason = 'clientRevoked'
             WHERE application_id = $1 AND ended_at IS NULL AND id = ANY (ARRAY(
                SELECT s.id FROM clients c JOIN sessions s ON s.application_id = $1 AND s.client_id = c.client_id
                 WHERE c.application_id = $1 AND c.software IS NULL AND c.session_id IS NULL AND c.expires_at <= now()
                   AND s.client_id LIKE 'reg~%' AND s.ended_at IS NULL
                 LIMIT $2))
            RETURNING id, uid, kind, client_id, has_lent
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'session.ended', sha256(a.audit_key || uuid_send(a.uid)), session_pseudonym(a.audit_key, e.id),
                   jsonb_build_object('reason', 'clientRevoked', 'kind', e.kind, 'client', e.client_id)
              FROM ended e JOIN accounts a ON a.application_id = $1 AND a.uid = e.uid
        )
        SELECT id, uid, has_lent, pg_notify('gatehouse', 'ended:' || $1::text || ':' || id::text) FROM ended
        """)

    package func endSessionsOfDeletedClients(in application: Application.ID) async throws {
        let batch = 500
        var count = batch
        while count == batch {
            let rows = try await run(Self.endSessionsOfDeletedClients, [.application(application), .int(batch)])
            count = try noteEnded(rows, application: application).count
        }
    }

    private static let selectRegistered = Statement(
        .read, "SELECT", clientColumns,
        """
          FROM clients c
         WHERE c.application_id = $1 AND c.software IS NULL AND c.expires_at > now()
         ORDER BY c.created_at, c.client_id
        """)

    package func registeredClients(of application: Application.ID) async throws -> [StoredClient] {
        try await run(Self.selectRegistered, [.application(application)]).decoded { try $0.nextStoredClient() }
    }
}

extension StoredClient.Registration {
    /// The column `metadata`, and the instance from which other columns are filled.
    fileprivate var columns: (metadata: String, instance: ClientInstance?) {
        get throws {
            let encoder = JSONEncoder.stable
            return switch self {
            case .registered(let metadata): (String(decoding: try encoder.encode(metadata), as: UTF8.self), nil)
            case .instance(let instance, let metadata):
                (String(decoding: try encoder.encode(metadata), as: UTF8.self), instance)
            }
        }
    }
}
