package import Accounts
package import Foundation

/// Recognises the accounts of administrators, on which only those act who may grant rights.
package struct GrantedAccounts: Sendable {
    package typealias Store = AdminGrantStore & AliasStore

    private let store: any Store

    package init(store: any Store) { self.store = store }

    /// Whether an account of the application, or the account that has absorbed it, has a role.
    package func contains(_ uid: UUID, home: Application) async throws -> Bool {
        try await store.hasGrant(store.resolve(uid, application: home.id), home: home.id)
    }
}
