package import Accounts
internal import ProviderKit

/// Everything that the use cases of administrators need from a database.
package typealias AdministrationStore = AccountsStore & AccountActStore & ServiceKeyStore & AdminGrantStore
    & BoundedTransactions

/// Runs reads of administrators under a time limit of their own.
package protocol BoundedTransactions: Sendable {
    /// Runs the body in a transaction whose statements may each take at most `limit`.
    ///
    /// - Throws: `AccountsError.unavailable` if a statement takes longer.
    func transaction<Result: Sendable>(
        within limit: Duration, _ body: @Sendable (Self) async throws -> Result
    ) async throws -> Result
}

extension Duration {
    /// How long a statement of an administrator may take.
    package static let administration: Duration = .seconds(5)
}

/// The use cases of the admin API, wired to one store.
package struct AdministrationUseCases: Sendable {
    package let capacity = AdminCapacity()
    package let limits: any RateLimiting
    package let trail: any AuditTrail
    package let keys: ServiceKeys
    package let acts: AccountActs
    package let invitations: AccountInvitations
    package let recoveryLinks: RecoveryLinks
    private let store: any AdministrationStore

    package init(store: any AdministrationStore, accounts: UseCases, opaque: any OpaqueTokens) {
        limits = accounts.limits
        trail = store
        keys = ServiceKeys(store: store, limits: accounts.limits)
        acts = AccountActs(store: store)
        invitations = AccountInvitations(
            store: store, limits: accounts.limits, opaque: opaque, time: accounts.time)
        recoveryLinks = RecoveryLinks(store: store, limits: accounts.limits, opaque: opaque, time: accounts.time)
        self.store = store
    }

    /// The grants of administrators, who are accounts of the application `home`.
    package func grants(home: Application) -> AdminGrants { AdminGrants(store: store, home: home) }
}
