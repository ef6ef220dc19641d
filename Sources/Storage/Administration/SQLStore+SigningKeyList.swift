package import Accounts
package import Administration
internal import Foundation
internal import Postgres

extension SQLStore: SigningKeyListStore {
    /// Keys of erasure certificates stay published.
    private static let selectListedKeys = Statement(
        .read,
        """
        SELECT 'accessTokens' AS purpose, kid, algorithm, bits, created_at, retired_at, published_until,
               retired_at IS NULL, published_until IS NULL OR published_until > now()
          FROM signing_keys
         WHERE application_id = $1
        UNION ALL
        SELECT 'identityTokens', kid, algorithm, bits, created_at, retired_at, published_until,
               retired_at IS NULL, published_until IS NULL OR published_until > now()
          FROM identity_keys
         WHERE application_id = $1
        UNION ALL
        SELECT 'erasures', kid, algorithm, bits, created_at, retired_at, NULL, retired_at IS NULL, true
          FROM erasure_keys
         WHERE application_id = $1
         ORDER BY created_at DESC, kid
        """)

    package func listedSigningKeys(application: Application.ID) async throws -> [ListedSigningKey] {
        try await run(Self.selectListedKeys, [.application(application)]).decoded { row in
            let (purpose, kid, algorithm, bits): (String, String, String, Int32) = (
                try row.next(), try row.next(), try row.next(), try row.next()
            )
            let createdAt: Date = try row.next()
            let (retiredAt, publishedUntil): (Date?, Date?) = (try row.next(), try row.next())
            let (signs, isPublished): (Bool, Bool) = (try row.next(), try row.next())
            return SigningPurpose(rawValue: purpose).map { purpose in
                ListedSigningKey(
                    kid: kid, purpose: purpose, algorithm: algorithm, bits: Int(bits),
                    state: signs ? .signing : isPublished ? .published : .retired, createdAt: createdAt,
                    retiredAt: retiredAt, publishedUntil: publishedUntil)
            }
        }.compactMap(\.self)
    }
}
