package import Foundation
package import ProviderKit

package struct DeletionScheduling: Sendable {
    package typealias Store = DeletionStore & SessionEndStore & EventOutbox & OwnerNotices.Store

    let store: any Store
    let application: Application

    package init(store: any Store, application: Application) { (self.store, self.application) = (store, application) }

    /// Ends every session of a locked account and starts its grace period; `session` requested it.
    ///
    /// `details` are further details of the audit event.
    package func schedule(
        _ uid: UUID, by cause: DeletionCause, session: UUID? = nil, receipt: UUID = UUID(),
        gracePeriod: Duration? = nil, details: [String: JSONValue] = [:]
    ) async throws {
        let purgeAfter = try await store.requestDeletion(
            of: uid, by: cause, session: session, receipt: receipt,
            gracePeriod: gracePeriod ?? application.policy.deletionGracePeriod, details: details,
            application: application.id)
        try await store.endSessions(.all, of: uid, because: .accountDeleted, application: application.id)
        try await store.announce(
            [AccountEvent(.accountDeleted, of: uid, details: ["receipt": .string(receipt.text)])],
            application: application.id)
        try await OwnerNotices(store: store, application: application.id)
            .send(.accountDeleted, toOwnerOf: uid, until: purgeAfter)
    }
}
