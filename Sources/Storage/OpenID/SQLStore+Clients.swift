package import Accounts
internal import Foundation
package import OpenID
internal import Postgres

extension SQLStore: ClientStore {
    /// What `nextStoredClient` reads of the client `c`.
    static let clientColumns: StaticString = """
        c.client_id, c.issuer, c.metadata::text, c.secret_hash, c.software, c.device_type, c.device_name, c.uid,
        c.session_id, c.created_at, c.last_used_at,
        c.last_used_at IS NULL OR c.last_used_at < now() - least(interval '1 hour', (c.expires_at - c.last_used_at) / 2)
        """

    /// Whether the client `c` can be used.
    ///
    /// An instance ends with its session, so nothing else has to delete it at that moment.
    static let isClientLive: StaticString = """
        (c.session_id IS NULL AND c.expires_at > now()
         OR EXISTS (SELECT 1 FROM sessions s
                     WHERE s.application_id = $1 AND s.id = c.session_id AND s.ended_at IS NULL
                       AND s.expires_at > now()))
        """

    static let selectClient = Statement(
        .read, "SELECT", clientColumns,
        """
          FROM clients c
         WHERE c.application_id = $1 AND c.client_id = $2 AND
        """, isClientLive)

    package func storedClient(_ id: String, application: Application.ID) async throws -> StoredClient? {
        try await run(Self.selectClient, [.application(application), .text(id)]).decoded { try $0.nextStoredClient() }
            .first
    }

    /// Calls of a client without sign-ins do not count, because anyone can register a client and call.
    private static let noteUse = Statement(
        .write,
        """
        UPDATE clients SET last_used_at = now(), expires_at = now() + $3::interval
         WHERE application_id = $1 AND client_id = $2 AND software IS NULL AND deleted_at IS NULL
           AND expires_at > now()
           AND EXISTS (SELECT 1 FROM consents g
                        WHERE g.application_id = $1 AND g.client_id = $2 AND g.client_id LIKE 'reg~%')
        """)

    package func noteUse(ofClient id: String, idle: Duration, application: Application.ID) async throws {
        try await write(Self.noteUse, [.application(application), .text(id), .interval(idle)])
    }
}

extension Row {
    /// The columns `SQLStore.clientColumns`.
    mutating func nextStoredClient() throws -> StoredClient {
        let (id, issuer): (String, String) = (try next(), try next())
        let metadata = Data(try next(String.self).utf8)
        let secret: [UInt8]? = try next()
        let (software, deviceType, deviceName): (String?, String?, String?) = (try next(), try next(), try next())
        let (account, session): (UUID?, UUID?) = (try next(), try next())
        let registration: StoredClient.Registration =
            if let software {
                .instance(
                    ClientInstance(
                        software: software, deviceType: deviceType ?? "", deviceName: deviceName, account: account,
                        session: session), try JSONDecoder().decode(InstanceMetadata.self, from: metadata))
            } else {
                .registered(try JSONDecoder().decode(ClientMetadata.self, from: metadata))
            }
        return StoredClient(
            id: id, issuer: issuer, registration: registration, secret: secret, createdAt: try next(),
            lastUsedAt: try next(), isUseStale: try next())
    }
}
