package import Foundation

/// Where a deletion stands, for whoever holds its receipt.
package struct ErasureStatus: Sendable {
    package enum Phase: String, Sendable {
        case scheduled, restored, erased
    }

    package let phase: Phase
    package let requestedAt: Date
    package let purgeAfter: Date
    package let erasedAt: Date?
    package let processors: [Processor]
    /// Once it is erased.
    package let certificate: String?

    package init(
        phase: Phase, requestedAt: Date, purgeAfter: Date, erasedAt: Date?, processors: [Processor],
        certificate: String?
    ) {
        self.phase = phase
        self.requestedAt = requestedAt
        self.purgeAfter = purgeAfter
        self.erasedAt = erasedAt
        self.processors = processors
        self.certificate = certificate
    }
}

package protocol DeletionStore: Sendable {
    /// Begins the grace period of an account that the caller has locked.
    /// - Returns: when it ends.
    func requestDeletion(
        of uid: UUID, receipt: UUID, gracePeriod: Duration, application: Int32
    ) async throws -> Date

    /// Ends the grace period of an account that the caller has locked.
    /// - Returns: `false` when it has passed.
    func restore(_ uid: UUID, application: Int32) async throws -> Bool

    func erasure(receipt: UUID, application: Int32) async throws -> ErasureStatus?
}
