package import Foundation
package import ProviderKit

/// Ends the grace period of an account that the transaction has locked.
package struct AccountRestoration: Sendable {
    package typealias Store = DeletionStore & EventOutbox & OwnerNotices.Store

    let store: any Store
    let application: Application

    package init(store: any Store, application: Application) { (self.store, self.application) = (store, application) }

    /// Restores the account, announces that, and mails it to the owner; `details` are those of the audit event.
    /// - Returns: `nil` if the grace period has passed or the erasure has begun; nothing was written.
    package func restore(_ uid: UUID, details: [String: JSONValue] = [:]) async throws -> CancelledDeletion? {
        guard let deletion = try await store.restore(uid, details: details, application: application.id) else {
            return nil
        }
        try await store.announce([AccountEvent(.accountRestored, of: uid)], application: application.id)
        try await OwnerNotices(store: store, application: application.id).send(.accountRestored, toOwnerOf: uid)
        return deletion
    }
}
