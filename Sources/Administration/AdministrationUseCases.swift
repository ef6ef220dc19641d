package import Accounts
internal import ProviderKit

/// Everything that the use cases of administrators need from a database.
package typealias AdministrationStore = AccountsStore & AccountActStore & ServiceKeyStore & AdminGrantStore
    & BoundedTransactions & ExplanationStore & AdminNoteStore & AccountReadingStore & AccountSearchStore & StatisticsStore & ProviderPlanStore & ProviderSwitchStore & ProviderActivityStore & ProviderModeStore

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
///
/// This type is a class, because the session of each caller refers to all of them.
package final class AdministrationUseCases: Sendable {
    package let capacity = AdminCapacity()
    package let limits: any RateLimiting
    package let trail: any AuditTrail
    package let keys: ServiceKeys
    package let acts: AccountActs
    package let explanations: Explanations
    package let notes: AdminNotes
    package let granted: GrantedAccounts
    package let export: AccountExport
    package let reading: AccountReading
    package let search: AccountSearch
    package let statistics: StatisticsReading
    package let providerPlans: ProviderPlans
    package let providerSwitches: ProviderSwitches
    package let providers: ProviderOverview
    package let invitations: AccountInvitations
    package let recoveryLinks: RecoveryLinks
    private let store: any AdministrationStore

    /// `switches` lets this server follow a switch, and `upstreams` knows the services behind its providers.
    package init(
        store: any AdministrationStore, accounts: UseCases, opaque: any OpaqueTokens, switches: ProviderSwitches,
        upstreams: any UpstreamHealth
    ) {
        limits = accounts.limits
        trail = store
        keys = ServiceKeys(store: store, limits: accounts.limits)
        acts = AccountActs(store: store)
        let cursors = PageCursors(opaque: opaque)
        explanations = Explanations(store: store, cursors: cursors)
        notes = AdminNotes(acts: acts, cursors: cursors)
        granted = GrantedAccounts(store: store)
        export = accounts.export
        reading = AccountReading(store: store, opaque: opaque, cursors: cursors)
        search = AccountSearch(store: store, cursors: cursors)
        statistics = StatisticsReading(store: store)
        providerPlans = ProviderPlans(store: store)
        providerSwitches = switches
        providers = ProviderOverview(store: store, switches: switches, upstreams: upstreams)
        invitations = AccountInvitations(
            store: store, limits: accounts.limits, opaque: opaque, time: accounts.time)
        recoveryLinks = RecoveryLinks(store: store, limits: accounts.limits, opaque: opaque, time: accounts.time)
        self.store = store
    }

    /// The grants of administrators, who are accounts of the application `home`.
    package func grants(home: Application) -> AdminGrants { AdminGrants(store: store, home: home) }
}
