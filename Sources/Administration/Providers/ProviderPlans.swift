package import Accounts
package import Foundation

/// Counts what a change of a provider's mode would do, before anybody confirms it.
package struct ProviderPlans: Sendable {
    package typealias Store = ProviderPlanStore & AdminGrantStore & BoundedTransactions

    let store: any Store
    private let turn: AdminCapacity

    /// How many stranded accounts a plan names.
    static let sample = 20

    /// `turn` is that of the switches, which count as well.
    init(store: any Store, turn: AdminCapacity) { (self.store, self.turn) = (store, turn) }

    /// Plans a change of the application's provider, which changes nothing yet.
    ///
    /// `home` is the application of administrators, and `you` the account of the administrator who asks, if a person.
    /// - Throws: `AdministrationError.notFound`; `AccountsError.overloaded` while others are counted.
    package func plan(
        _ provider: String, to mode: ProviderMode, home: Application, you: UUID? = nil, in application: Application
    ) async throws -> ProviderPlan {
        guard let configured = application.providers[provider],
            let change = ModeChange(
                of: provider, to: mode, among: application.providers, under: application.policy)
        else { throw AdministrationError.notFound("provider") }
        return try await turn.run {
            let ((effect, admins), traffic) = try await store.transaction(within: .planning) { store in
                (
                    try await Self.count(change, home: home, you: you, in: application, store: store),
                    try await store.traffic(of: provider, application: application.id)
                )
            }
            let stored = StoredPlan(
                id: UUID(), provider: provider, from: change.from, to: mode, stranded: effect.stranded)
            return ProviderPlan(
                id: stored.id, validUntil: try await store.insert(stored, application: application.id),
                change: change, effect: effect, traffic: traffic, admins: admins,
                confirm: mode.phrase(for: provider, of: application),
                yaml: configured.declaration.difference(of: provider, to: mode, in: application.name))
        }
    }

    /// Counts the effect of a change on accounts, and on administrators among them.
    static func count(
        _ change: ModeChange, home: Application, you: UUID?, in application: Application,
        store: any ProviderPlanStore & AdminGrantStore
    ) async throws -> (ModeEffect, AdminImpact) {
        let isHome = application.id == home.id
        // Administrators have no account in another application.
        let you = isHome ? you : nil
        let grants = isHome ? try await store.grants(home: home.id) : []
        let owners = Set(grants.filter { $0.role == .owner && $0.application == nil }.map(\.uid))
        let admins = Set(grants.map(\.uid)).union([you].compactMap(\.self))
        let effect = try await store.effect(
            of: change, admins: Array(admins), sample: sample, application: application.id)
        return (effect, AdminImpact(of: effect.admins, owners: owners, you: you))
    }
}

extension Duration {
    /// How long a statement may take that counts accounts or sessions.
    package static let planning: Duration = .seconds(60)
}
