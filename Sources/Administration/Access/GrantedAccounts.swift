package import Accounts
package import Foundation

/// The accounts of administrators, on which only those act who may grant the same rights.
package struct GrantedAccounts: Sendable {
    package typealias Store = AdminGrantStore & AliasStore

    private let store: any Store

    package init(store: any Store) { self.store = store }

    /// Requires the right to act on an account, or on the one that has absorbed it.
    ///
    /// - Throws: `AdministrationError.forbidden`.
    package func requireRight(of administrator: Administrator, toActOn uid: UUID, home: Application) async throws {
        let uid = try await store.resolve(uid, application: administrator.application.id)
        try await administrator.requireRight(toActOn: uid, home: home.id, in: store)
    }
}
