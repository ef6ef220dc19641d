package import Accounts
package import Foundation
internal import ProviderKit

/// Everything that the use cases of administrators need from a database.
package typealias AdministrationStore = AccountsStore & AccountActStore & ServiceKeyStore & AdminGrantStore
    & BoundedTransactions & ExplanationStore & AdminNoteStore & AccountReadingStore & AccountSearchStore
    & StatisticsStore & ProviderPlanStore & ProviderSwitchStore & ProviderModeStore
    & AdminInvitationStore & ConsoleSessionStore & ErasureListStore & DeliveryListStore & MessageListStore
    & AuditListStore & SigningKeyListStore & LockStore

/// The use cases of the admin API, wired to one store.
///
/// This type is a class, because the session of each caller refers to all of them.
package final class AdministrationUseCases: Sendable {
    package let capacity: AdminCapacity
    package let limits: any RateLimiting
    package let trail: any AuditTrail
    package let time: any TimeSource
    package let keys: ServiceKeys
    package let consoleSessions: ConsoleSessions
    package let acts: AccountActs
    package let explanations: Explanations
    package let notes: AdminNotes
    package let export: AccountExport
    package let reading: AccountReading
    package let search: AccountSearch
    package let statistics: StatisticsReading
    package let providerPlans: ProviderPlans
    package let providerSwitches: ProviderSwitches
    package let providers: ProviderOverview
    package let invitations: AccountInvitations
    package let recoveryLinks: RecoveryLinks
    package let erasures: ErasureActs
    package let webhooks: WebhookActs
    package let deliveries: DeliveryActs
    package let audit: AuditReports
    package let signingKeys: SigningKeyActs
    package let locks: SubjectLocks
    package let configuration: any ConfigurationInForce
    package let diagnosis: ProviderDiagnosis
    package let trials: ProviderTrials
    package let cursors: PageCursors
    private let store: any AdministrationStore
    private let opaque: any OpaqueTokens

    /// `capacity` bounds the calls at once, `switches` lets this server follow a switch, `ports` are the other parts of
    /// the server that administrators look at or change, and `services` asks the services behind providers.
    package init(
        store: any AdministrationStore, capacity: AdminCapacity, accounts: UseCases, sealing: any Sealing,
        opaque: any OpaqueTokens, switches: ProviderSwitches, ports: ServerPorts,
        providers services: any ProviderServices
    ) {
        self.capacity = capacity
        limits = accounts.limits
        trail = store
        time = accounts.time
        keys = ServiceKeys(store: store, limits: accounts.limits)
        consoleSessions = ConsoleSessions(store: store, sealing: sealing, opaque: opaque)
        acts = AccountActs(store: store)
        cursors = PageCursors(opaque: opaque)
        explanations = Explanations(store: store, cursors: cursors)
        notes = AdminNotes(acts: acts, cursors: cursors)
        export = accounts.export
        reading = AccountReading(store: store, opaque: opaque, cursors: cursors)
        search = AccountSearch(store: store, cursors: cursors)
        statistics = StatisticsReading(store: store)
        providerPlans = ProviderPlans(store: store, turn: switches.turn)
        providerSwitches = switches
        invitations = AccountInvitations(
            store: store, limits: accounts.limits, opaque: opaque, time: time)
        recoveryLinks = RecoveryLinks(limits: accounts.limits, opaque: opaque, time: time)
        erasures = ErasureActs(store: store, cursors: cursors)
        webhooks = WebhookActs(store: store, trail: store, directory: ports.webhooks)
        deliveries = DeliveryActs(store: store, cursors: cursors)
        audit = AuditReports(
            store: store, trail: store, chain: ports.chain, cursors: cursors, capacity: capacity)
        signingKeys = SigningKeyActs(store: store, changes: ports.keys)
        locks = SubjectLocks(store: store, trail: store, opaque: opaque, limits: ports.limits)
        configuration = ports.configuration
        diagnosis = ProviderDiagnosis(services: services, trail: store)
        trials = ProviderTrials(store: store, redirects: accounts.redirects, explanations: explanations)
        providers = ProviderOverview(
            switches: switches,
            health: ProviderHealth(
                store: store, statistics: accounts.statistics, findings: accounts.findings, states: services))
        (self.store, self.opaque) = (store, opaque)
    }

    /// The grants of administrators, who are accounts of the application `home`.
    package func grants(home: Application) -> AdminGrants { AdminGrants(store: store, home: home) }

    /// The links with which accounts of the application `home` become administrators.
    package func adminInvitations(home: Application) -> AdminInvitations {
        AdminInvitations(store: store, opaque: opaque, home: home)
    }

    /// Requires the right to grant the roles of an account, or of the one that has absorbed it.
    ///
    /// Administrators are accounts of the application `home`.
    /// - Throws: `AdministrationError.forbidden`.
    package func requireRight(of administrator: Administrator, toActOn uid: UUID, home: Application) async throws {
        guard administrator.application.id == home.id else { return }
        let uid = try await store.resolve(uid, application: home.id)
        try await administrator.requireRight(toActOn: uid, home: home.id, in: store)
    }
}
