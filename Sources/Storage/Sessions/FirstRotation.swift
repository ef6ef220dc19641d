internal import Accounts
package import Postgres

/// The rotation of a REST client's token that was not presented before; concurrent calls share its statement.
package struct FirstRotation: Hashable, Sendable {
    let presented, successor: [UInt8]
    /// The lifetime of the successor in seconds.
    let lifetime: Int

    static func joined(from database: Database) -> JoinedRows<Self, SessionGrant> {
        // A statement begins as soon as a connection is free, because it may wait for the disk.
        JoinedRows(crowd: 1, most: 64, limits: database.configuration) { rotations, application in
            let binds: [Bind] = [
                .application(application), .bytesArray(rotations.map(\.presented)),
                .bytesArray(rotations.map(\.successor)), .ints(rotations.map(\.lifetime)),
            ]
            do {
                let rows = try await database.once(rotate, binds)
                return Dictionary(try rows.map(rotated)) { first, _ in first }
            } catch is StoreConflict {
                // The conflict of one token fails no other: each is decided by itself.
                return [:]
            }
        }
    }

    /// Inserts the successors `$3` of the tokens `$2`, with the lifetimes `$4` in seconds, and returns a row for each.
    ///
    /// It leaves out what it can't decide, or would have to wait for: `SQLStore.rotate` decides that. The row of the
    /// session is locked as the foreign key of its tokens locks it, unless another transaction is deleting the session.
    /// A successor that exists is left out at first, because its insertion would wait for a transaction that deletes
    /// it. The order of the insertions keeps two statements for the same tokens from waiting for each other.
    ///
    /// LATERAL, because Citus can't join a function that returns several columns otherwise.
    package static let rotate = Statement(
        .write,
        """
        WITH presented AS MATERIALIZED (
            SELECT r.hash, r.successor, r.lifetime, p.*
              FROM unnest($2::bytea[], $3::bytea[], $4::int8[]) AS r (hash, successor, lifetime)
             CROSS JOIN LATERAL (
                   SELECT t.session_id, s.uid, s.identity_id, s.methods, s.authenticated_at, s.expires_at, s.generation,
                          s.is_borrowed
                     FROM refresh_tokens t
                     JOIN sessions s ON s.application_id = $1 AND s.id = t.session_id
                    WHERE t.application_id = $1 AND t.hash = r.hash AND
        """, SQLStore.isLive,
        """
                      AND s.client_id IS NULL
                      AND NOT EXISTS (
                          SELECT 1 FROM refresh_tokens n WHERE n.application_id = $1 AND n.hash = r.successor)
                      FOR KEY SHARE OF s SKIP LOCKED) p
        ), rotated AS (
            INSERT INTO refresh_tokens (application_id, hash, session_id, generation, expires_at)
            SELECT $1, successor, session_id, generation, least(now() + lifetime * interval '1 second', expires_at)
              FROM presented
             ORDER BY successor
            ON CONFLICT DO NOTHING
            RETURNING hash
        )
        SELECT p.hash, p.successor, p.lifetime, p.is_borrowed, p.session_id, p.uid, p.authenticated_at, p.expires_at,
               p.generation, p.methods, i.provider, i.provider_uid,
        """, SQLStore.firstAddresses,
        """
               , i.profile::text, a.roles, a.claims::text
          FROM rotated r
          JOIN presented p ON p.successor = r.hash
          JOIN identities i ON i.application_id = $1 AND i.id = p.identity_id
          JOIN accounts a ON a.application_id = $1 AND a.uid = p.uid
        """)

    private static func rotated(_ row: Row) throws -> (Self, Result<SessionGrant, any Error>) {
        var row = row
        let rotation = Self(presented: try row.next(), successor: try row.next(), lifetime: try row.next())
        let grant = Result {
            let isBorrowed: Bool = try row.next()
            var grant = try row.nextGrant()
            grant.isBorrowed = isBorrowed
            return grant
        }
        return (rotation, grant)
    }
}

extension FirstRotation {
    /// `nil` for a token of an OpenID client.
    init?(_ rotation: Rotation) {
        guard rotation.client == nil else { return nil }
        (presented, successor) = (rotation.presented, rotation.successor)
        lifetime = Int(rotation.lifetime.components.seconds)
    }
}
