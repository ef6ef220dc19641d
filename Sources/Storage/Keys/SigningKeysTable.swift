package import Accounts
internal import Foundation
package import Postgres

/// Stores the signing keys of access tokens, ID tokens and erasure certificates, in one table each.
package struct SigningKeysTable: SigningKeyStore {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    private static let select = Statement(
        .read,
        """
        SELECT 'accessTokens' AS purpose, kid, algorithm, bits, sealed_private_key, created_at, retired_at
          FROM signing_keys
         WHERE application_id = $1 AND (published_until IS NULL OR published_until > now())
        UNION ALL
        SELECT 'identityTokens', kid, algorithm, bits, sealed_private_key, created_at, retired_at
          FROM identity_keys
         WHERE application_id = $1 AND (published_until IS NULL OR published_until > now())
        UNION ALL
        SELECT 'erasures', kid, algorithm, bits, sealed_private_key, created_at, retired_at
          FROM erasure_keys
         WHERE application_id = $1
         ORDER BY purpose, retired_at NULLS FIRST, created_at DESC
        """)

    package func signingKeys(application: Application.ID) async throws -> [StoredSigningKey] {
        let rows = try await database.run(Self.select, [.application(application)])
        return try rows.compactMap { row in
            var row = row
            let purpose = SigningPurpose(rawValue: try row.next())
            let kid: String = try row.next()
            guard let purpose, let algorithm = SigningAlgorithm(rawValue: try row.next()) else { return nil }
            return StoredSigningKey(
                purpose: purpose, kid: kid, algorithm: algorithm, bits: try row.next(),
                sealedPrivateKey: try row.next(),
                createdAt: try row.next(), retiredAt: try row.next())
        }
    }

    private static let retirement: StaticString = """
        SET retired_at = now(), published_until = now() + $3::interval
         WHERE application_id = $1 AND kid = $2 AND retired_at IS NULL
        """

    /// Retires a key in a statement before the insert of its successor.
    ///
    /// The insert must see that the key is retired, because a unique index allows only one key that signs.
    private static let retire = Statement(.write, "UPDATE signing_keys", retirement)

    private static let retireIdentityKey = Statement(.write, "UPDATE identity_keys", retirement)

    private static let retireErasureKey = Statement(
        .write,
        """
        UPDATE erasure_keys SET retired_at = now() WHERE application_id = $1 AND kid = $2 AND retired_at IS NULL
        """)

    private static let installation: StaticString = """
            (application_id, kid, algorithm, bits, sealed_private_key)
            VALUES ($1, $2, $3, $4, $5)
            RETURNING kid
        )
        SELECT pg_notify('gatehouse', 'keys') FROM installed
        """

    private static let insert = Statement(.write, "WITH installed AS (INSERT INTO signing_keys", installation)

    private static let insertIdentityKey = Statement(
        .write, "WITH installed AS (INSERT INTO identity_keys", installation)

    private static let insertErasureKey = Statement(
        .write, "WITH installed AS (INSERT INTO erasure_keys", installation)

    private static let record = Statement(
        .write, "INSERT INTO audit_events (application_id, event, details) VALUES ($1, $2, $3)")

    /// The publication ends a minute ago, so that a call that began earlier, and has waited, finds it ended.
    private static let unpublication: StaticString = """
            SET published_until = now() - interval '1 minute'
             WHERE application_id = $1 AND kid = $2 AND retired_at IS NOT NULL AND published_until > now()
            RETURNING kid
        ), audited AS (
            INSERT INTO audit_events (application_id, event, details)
            SELECT $1, $3, $4::jsonb FROM unpublished
            RETURNING event
        )
        SELECT pg_notify('gatehouse', 'keys') FROM audited
        """

    private static let unpublish = Statement(.write, "WITH unpublished AS (UPDATE signing_keys", unpublication)

    private static let unpublishIdentityKey = Statement(
        .write, "WITH unpublished AS (UPDATE identity_keys", unpublication)

    /// The keys of certificates of erasure stay published, so that certificates can always be verified.
    package func unpublishSigningKey(
        _ kid: String, for purpose: SigningPurpose, recording event: AuditEntry, application: Application.ID
    ) async throws {
        let statement: Statement
        switch purpose {
        case .accessTokens: statement = Self.unpublish
        case .identityTokens: statement = Self.unpublishIdentityKey
        case .erasures: return
        }
        _ = try await database.run(
            statement,
            [.application(application), .text(kid), .text(event.event.rawValue), .object(event.details)])
    }

    private static func insertion(for purpose: SigningPurpose) -> Statement {
        switch purpose {
        case .accessTokens: insert
        case .identityTokens: insertIdentityKey
        case .erasures: insertErasureKey
        }
    }

    private static func retiring(_ purpose: SigningPurpose) -> Statement {
        switch purpose {
        case .accessTokens: retire
        case .identityTokens: retireIdentityKey
        case .erasures: retireErasureKey
        }
    }

    package func installSigningKey(
        _ key: StoredSigningKey, replacing expected: String?, overlap: Duration, recording event: AuditEntry?,
        application: Application.ID
    ) async throws {
        do {
            try await retryingUnderContention {
                try await translatingErrors {
                    try await database.transaction { transaction in
                        if let expected {
                            let binds: [Bind] = [.application(application), .text(expected)]
                            let retired = try await transaction.execute(
                                Self.retiring(key.purpose),
                                key.purpose == .erasures ? binds : binds + [.interval(overlap)])
                            guard retired.affected == 1 else { throw StoreConflict() }
                        }
                        _ = try await transaction.execute(
                            Self.insertion(for: key.purpose),
                            [
                                .application(application), .text(key.kid), .text(key.algorithm.rawValue),
                                .int4(Int32(clamping: key.bits)), .bytes(key.sealedPrivateKey),
                            ])
                        if let event {
                            _ = try await transaction.execute(
                                Self.record,
                                [.application(application), .text(event.event.rawValue), .object(event.details)])
                        }
                    }
                }
            }
        } catch is StoreConflict {
            return  // another replica was faster; the caller reads back what it installed
        }
    }
}
