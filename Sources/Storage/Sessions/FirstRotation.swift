internal import Accounts
package import Postgres

/// The rotation of a token that was not presented before; concurrent calls on the same terms share its statement.
package struct FirstRotation: Hashable, Sendable {
    let presented, successor: [UInt8]

    /// What all tokens of a statement have in common.
    struct Terms: Hashable, Sendable {
        var application: Application.ID
        /// The lifetime of the successors.
        var lifetime: Duration
        /// `nil` for the tokens of the REST interface.
        var client, issuer: String?
        /// What the client asks for, here always without scopes and resource.
        var target: TokenTarget
    }

    static func joined(from database: Database) -> JoinedRows<Terms, Self, SessionGrant> {
        // A statement begins as soon as a connection is free, because it may wait for the disk.
        JoinedRows(crowd: 1, most: 64, limits: database.configuration) { rotations, terms in
            let binds: [Bind] =
                [.application(terms.application), .bytesArray(rotations.map(\.presented))] + terms.target.binds + [
                    .bytesArray(rotations.map(\.successor)), .interval(terms.lifetime), .text(terms.client),
                    .text(terms.issuer),
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

    /// Inserts the successors `$10` of the tokens `$2`, and returns a row for each.
    ///
    /// The other parameters are those of `SQLStore.rotate`, which decides about the tokens that this statement leaves
    /// out: those that it can't decide, or would have to wait for. The row of the session gets the lock that the
    /// foreign key of its tokens takes, unless another transaction is deleting the session. A successor that exists is
    /// left out at first, because its insertion would wait for a transaction that deletes it. Tokens are inserted in
    /// order, so that two statements for the same tokens do not deadlock.
    ///
    /// LATERAL, because Citus can't join a function that returns several columns otherwise.
    package static let rotate = Statement(
        .write,
        """
        WITH presented AS MATERIALIZED (
            SELECT r.hash, r.successor, p.*
              FROM unnest($2::bytea[], $10::bytea[]) AS r (hash, successor)
             CROSS JOIN LATERAL (
                   SELECT
        """, SQLStore.presentedColumns,
        """
                     FROM refresh_tokens t
                     JOIN sessions s ON s.application_id = $1 AND s.id = t.session_id
                    WHERE t.application_id = $1 AND t.hash = r.hash AND (t.scopes IS NULL OR (
        """, SQLStore.suitsTarget, ")) AND", SQLStore.isPresentable, SQLStore.consentScopes,
        """
                          )))
                      AND NOT EXISTS (
                          SELECT 1 FROM refresh_tokens n WHERE n.application_id = $1 AND n.hash = r.successor)
                      FOR KEY SHARE OF s SKIP LOCKED) p
        ), rotated AS (
            INSERT INTO refresh_tokens
                   (application_id, hash, session_id, generation, expires_at, scopes, resources, claims, token_claims,
                    issuer)
            SELECT $1, successor, session_id, generation, least(now() + $11::interval, expires_at), scopes, resources,
                   claims, token_claims, issuer
              FROM presented
             ORDER BY successor
            ON CONFLICT DO NOTHING
            RETURNING hash
        )
        SELECT p.hash, p.successor,
        """, SQLStore.refreshedSession, SQLStore.firstAddresses, SQLStore.refreshedScope, SQLStore.accountColumns,
        """
          FROM rotated r
          JOIN presented p ON p.successor = r.hash
          JOIN identities i ON i.application_id = $1 AND i.id = p.identity_id
          JOIN accounts a ON a.application_id = $1 AND a.uid = p.uid
        """)

    private static func rotated(_ row: Row) throws -> (Self, Result<SessionGrant, any Error>) {
        var row = row
        let rotation = Self(presented: try row.next(), successor: try row.next())
        return (rotation, Result { try row.nextRefreshed() })
    }
}

extension FirstRotation.Terms {
    /// `nil` if the client names scopes or a resource.
    ///
    /// No text of a request is part of the terms: such texts are slow to compare, can be equal without having the same
    /// bytes, and can be any number.
    init?(of rotation: Rotation, application: Application.ID) {
        guard rotation.target.scopes.isEmpty, rotation.target.resource == nil else { return nil }
        (self.application, lifetime, target) = (application, rotation.lifetime, rotation.target)
        (client, issuer) = (rotation.client?.id, rotation.client?.issuer)
    }
}
