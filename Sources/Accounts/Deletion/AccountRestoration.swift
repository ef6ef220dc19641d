internal import Foundation
internal import ProviderKit

/// Ends the grace period of an account that the transaction has locked.
struct AccountRestoration: Sendable {
    typealias Store = DeletionStore & EventOutbox & OwnerNotices.Store

    let store: any Store
    let application: Application

    /// Restores the account, announces that, and mails it to the owner.
    /// - Returns: `nil` if the grace period has passed or the erasure has begun; nothing was written.
    func restore(_ uid: UUID) async throws -> CancelledDeletion? {
        guard let deletion = try await store.restore(uid, application: application.id) else { return nil }
        try await store.announce([AccountEvent(.accountRestored, of: uid)], application: application.id)
        try await OwnerNotices(store: store, application: application.id).send(.accountRestored, toOwnerOf: uid)
        return deletion
    }
}
