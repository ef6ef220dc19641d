package import Accounts
package import Foundation
internal import Postgres

extension SQLStore: ErasureStatusStore {
    private static let selectErasure = Statement(
        .read,
        """
        SELECT requested_at, purge_after, restored_at IS NOT NULL, erased_at, certificate
          FROM erasures
         WHERE application_id = $1 AND receipt = $2
        """)

    package func erasure(receipt: UUID, application: Application.ID) async throws -> ErasureStatus? {
        guard var row = try await run(Self.selectErasure, [.application(application), .uuid(receipt)]).first else {
            return nil
        }
        let requestedAt: Date = try row.next()
        let purgeAfter: Date = try row.next()
        let isRestored: Bool = try row.next()
        let erasedAt: Date? = try row.next()
        return ErasureStatus(
            phase: isRestored ? .restored : erasedAt == nil ? .scheduled : .erased, requestedAt: requestedAt,
            purgeAfter: purgeAfter, erasedAt: erasedAt,
            processors: try await processors(receipt, application: application), certificate: try row.next())
    }
}
