package import Foundation

/// The status of a deletion, for the holder of its receipt.
package struct ErasureStatus: Sendable {
    package enum Phase: String, Sendable {
        case scheduled, restored, erased
    }

    package let phase: Phase
    package let requestedAt: Date
    package let purgeAfter: Date
    package let erasedAt: Date?
    package let processors: [Processor]
    /// Set when the account is erased.
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

/// Who or what caused a deletion, as recorded in the audit.
package enum DeletionCause: String, Sendable {
    case owner, admin
    /// The provider deleted the last identity.
    case provider
    /// The owner removed the last identity.
    case lastIdentity = "last-identity"
    case guestSwitched = "guest-switched"
    /// The guest was idle for too long.
    case idle
    /// The number has a new owner, and the account had no other way in.
    case displaced
}

/// A deletion that was cancelled in its grace period.
package struct CancelledDeletion: Sendable {
    /// The session that requested it, if one did.
    package let session: UUID?

    package init(session: UUID?) {
        self.session = session
    }
}

/// Begins and ends the grace period of accounts that the transaction has locked.
package protocol DeletionStore: Sendable {
    /// `session` is the one that requested the deletion, if one did.
    /// - Returns: when the grace period ends.
    func requestDeletion(
        of uid: UUID, by cause: DeletionCause, session: UUID?, receipt: UUID, gracePeriod: Duration,
        application: Application.ID
    ) async throws -> Date

    /// - Returns: `nil` when the grace period has passed or the erasure has begun.
    func restore(_ uid: UUID, application: Application.ID) async throws -> CancelledDeletion?
}

/// Finds deletions by their receipt.
package protocol ErasureStatusStore: Sendable {
    func erasure(receipt: UUID, application: Application.ID) async throws -> ErasureStatus?
}
