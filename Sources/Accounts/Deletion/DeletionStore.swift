package import Foundation
package import ProviderKit

/// The status of a deletion, for the holder of its receipt.
package struct ErasureStatus: Sendable {
    package enum Phase: String, Sendable, CaseIterable { case scheduled, restored, erased }

    package let phase: Phase
    package let requestedAt, purgeAfter: Date
    package let erasedAt: Date?
    package let processors: [Processor]
    /// The signed certificate; `nil` until the account is erased.
    package let certificate: String?

    package init(
        phase: Phase, requestedAt: Date, purgeAfter: Date, erasedAt: Date?, processors: [Processor],
        certificate: String?
    ) {
        (self.phase, self.requestedAt, self.purgeAfter, self.erasedAt) = (phase, requestedAt, purgeAfter, erasedAt)
        (self.processors, self.certificate) = (processors, certificate)
    }
}

/// The cause of a deletion, as recorded in the audit.
package enum DeletionCause: String, Sendable, CaseIterable {
    case owner, admin
    /// The provider reported that it deleted the account's last identity.
    case provider
    /// The owner removed the account's last identity.
    case lastIdentity = "last-identity"
    case guestSwitched = "guest-switched"
    /// The guest was idle for too long.
    case idle
    /// The phone number was assigned to a new owner, and the account had no other identity that could sign in.
    case displaced
}

/// A deletion that was cancelled in its grace period.
package struct CancelledDeletion: Sendable {
    /// The session that requested the deletion; `nil` if no session did.
    package let session: UUID?

    package init(session: UUID?) { self.session = session }
}

/// Begins and ends the grace period of accounts that the transaction has locked.
package protocol DeletionStore: Sendable {
    /// `session` is the session that requested the deletion, if any; `details` are further details of the audit event.
    /// - Returns: when the grace period ends.
    func requestDeletion(
        of uid: UUID, by cause: DeletionCause, session: UUID?, receipt: UUID, gracePeriod: Duration,
        details: [String: JSONValue], application: Application.ID
    ) async throws -> Date

    /// `details` are those of the audit event.
    /// - Returns: `nil` if the grace period has passed or the erasure has begun.
    func restore(
        _ uid: UUID, details: [String: JSONValue], application: Application.ID
    ) async throws -> CancelledDeletion?
}

package protocol ErasureStatusStore: Sendable {
    func erasure(receipt: UUID, application: Application.ID) async throws -> ErasureStatus?
}
