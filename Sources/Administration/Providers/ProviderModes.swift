package import Accounts
package import ProviderKit

/// The mode of a provider in the configuration that was last served.
package struct ServedMode: Sendable, Equatable {
    package let provider, kind: String
    package let mode: ProviderMode

    package init(provider: String, kind: String, mode: ProviderMode) {
        (self.provider, self.kind, self.mode) = (provider, kind, mode)
    }
}

package protocol ProviderModeStore: Sendable {
    func servedModes(of application: Application.ID) async throws -> [ServedMode]

    /// Stores the modes of providers that are not known yet.
    func insert(_ modes: [ServedMode], application: Application.ID) async throws

    /// Stores a changed mode and records the change with its effect, unless another server has done so.
    func record(
        _ change: ModeChange, effect: ModeEffect, application: Application.ID
    ) async throws
}

/// Compares the modes in a configuration with those that were served before, and counts what the changes do.
package struct ProviderModes: Sendable {
    package typealias Store = ProviderModeStore & ProviderPlanStore & BoundedTransactions

    let store: any TransactionalStore & Store

    package init(store: any TransactionalStore & Store) { self.store = store }

    /// A change of mode, and what it does to accounts after the changes before it.
    package struct Change: Sendable {
        package let change: ModeChange
        package let effect: ModeEffect
    }

    /// Counts what the application's configuration changes.
    ///
    /// Each change is counted after those before it, so that the numbers of stranded accounts can be added up: an account
    /// may be stranded only by two changes together. `types` are the kinds of providers that the server has, by which it
    /// knows providers that are no longer configured.
    package func changes(
        in application: Application, types: [any Provider.Type]
    ) async throws -> [Change] {
        let served = try await store.servedModes(of: application.id)
        var changes: [Change] = []
        for change in Self.changes(from: served, in: application, types: types) {
            let effect = try await store.transaction(within: .planning) { store in
                try await store.effect(of: change, admins: [], sample: 0, application: application.id)
            }
            changes.append(Change(change: change, effect: effect))
        }
        return changes
    }

    /// Records what the application's configuration changes, once among all servers.
    package func record(of application: Application, types: [any Provider.Type]) async throws {
        let known = Set(try await store.servedModes(of: application.id).map(\.provider))
        let new = application.providers.all.filter { !known.contains($0.name) }
        if !new.isEmpty {
            try await store.insert(
                new.map { ServedMode(provider: $0.name, kind: $0.kind, mode: $0.declaration.mode) },
                application: application.id)
        }
        for change in try await changes(in: application, types: types) {
            try await store.record(change.change, effect: change.effect, application: application.id)
        }
    }

    /// The changes from the modes that were served, those that allow more first.
    static func changes(
        from served: [ServedMode], in application: Application, types: [any Provider.Type]
    ) -> [ModeChange] {
        let configured = application.providers.all
        let removed = served.filter { mode in !configured.contains { $0.name == mode.provider } }
            .compactMap { mode in
                types.first { $0.kind == mode.kind }.map { type in
                    ConfiguredProvider(name: mode.provider, displayName: nil, mode: mode.mode, type: type)
                }
            }
        let before = Dictionary(served.map { ($0.provider, $0.mode) }) { first, _ in first }
        var registry = application.providers.adding(removed).switching(before)
        var differing: [(provider: String, from: ProviderMode, to: ProviderMode)] = configured.compactMap { provider in
            guard let mode = before[provider.name], mode != provider.declaration.mode else { return nil }
            return (provider.name, mode, provider.declaration.mode)
        }
        differing += removed.filter { $0.mode != .off }.map { ($0.name, $0.mode, .off) }
        let widening = differing.filter { $0.from.isNarrower(than: $0.to) }
        let narrowing = differing.filter { $0.to.isNarrower(than: $0.from) }
        return (widening + narrowing).compactMap { difference in
            let change = ModeChange(
                of: difference.provider, to: difference.to, among: registry, under: application.policy)
            registry = registry.switching([difference.provider: difference.to])
            return change
        }
    }
}
