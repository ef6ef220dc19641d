package import Accounts
package import Foundation

/// An erasure as administrators see it.
package struct ListedErasure: Sendable {
    package let receipt, uid: UUID
    package let phase: ErasureStatus.Phase
    package let requestedAt, purgeAfter: Date
    /// When the grace period ended; from then on the account can't be restored.
    package let beganAt: Date?
    package let restoredAt, erasedAt: Date?
    package var processors: [Processor] = []
    /// `requestedAt` in microseconds since the epoch, by which the list is sorted.
    package let position: Int

    package init(
        receipt: UUID, uid: UUID, phase: ErasureStatus.Phase, requestedAt: Date, purgeAfter: Date, beganAt: Date?,
        restoredAt: Date?, erasedAt: Date?, position: Int
    ) {
        (self.receipt, self.uid, self.phase, self.position) = (receipt, uid, phase, position)
        (self.requestedAt, self.purgeAfter, self.beganAt) = (requestedAt, purgeAfter, beganAt)
        (self.restoredAt, self.erasedAt) = (restoredAt, erasedAt)
    }
}

package protocol ErasureListStore: Sendable {
    /// The erasures before a position, the newest first; its id is a receipt.
    func erasures(
        _ phase: ErasureStatus.Phase?, before position: (at: Int, id: UUID)?, atMost count: Int,
        application: Application.ID
    ) async throws -> [ListedErasure]

    func listedErasure(_ receipt: UUID, application: Application.ID) async throws -> ListedErasure?

    /// Makes all calls to processors due that have no acknowledgement and are not under way, and records the act unless
    /// all of them were due already.
    func retryProcessors(
        of erasure: ListedErasure, by act: AdministrativeAct, application: Application.ID
    ) async throws
}
