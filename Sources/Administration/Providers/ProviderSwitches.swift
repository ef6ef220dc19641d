package import Accounts
package import Foundation

/// Switches providers to other modes than those of the configuration.
package struct ProviderSwitches: Sendable {
    package typealias Store = ProviderPlans.Store & ProviderSwitchStore & AccountLocks & IdentityStore & SessionEndStore
        & OwnerNotices.Store

    let store: any TransactionalStore & Store
    let time: any TimeSource
    /// Lets this server follow a switch before it answers.
    let follow: @Sendable () async -> Void
    /// A count reads many rows, so a server makes one at a time, for plans and switches together.
    let turn = AdminCapacity(places: 1)

    package init(
        store: any TransactionalStore & Store, time: any TimeSource, follow: @escaping @Sendable () async -> Void = {}
    ) {
        (self.store, self.time, self.follow) = (store, time, follow)
    }

    /// Switches a provider as a plan says, for a limited time.
    ///
    /// The accounts are counted again, in the same transaction. Of calls at the same time, one succeeds.
    /// - Throws: `AdministrationError.planStale`, `confirmationRequired`, `wrongState` and `wouldLockOutAdmins`;
    ///   `AccountsError.overloaded` while others are counted.
    package func change(
        _ provider: String, as request: SwitchRequest, by act: AdministrativeAct, home: Application, you: UUID? = nil,
        in application: Application
    ) async throws -> ProviderSwitch {
        let configured = try Self.provider(provider, of: application)
        let until = try end(of: request)
        let made = try await turn.run {
            try await store.retryingTransaction(within: .planning) { store in
                let (change, before) = try await Self.confirmed(
                    request, of: configured, in: application, store: store)
                try Self.require(change.to, of: configured, in: application)
                let (effect, admins) = try await ProviderPlans.count(
                    change, home: home, you: you, in: application, store: store)
                guard !before.plan.isOutgrown(by: effect.stranded) else { throw AdministrationError.planStale }
                guard !admins.locksOut else { throw AdministrationError.wouldLockOutAdmins }
                let next = ProviderSwitch(
                    id: UUID(), provider: provider, mode: change.to, fileMode: configured.declaration.mode,
                    since: time.now(), until: until)
                let inheritsSessions =
                    if let last = before.last {
                        try await Self.replace(last, by: next, act: act, in: application, store: store)
                    } else {
                        false
                    }
                let made = try await store.insert(
                    next, from: change.from, details: effect, by: act, application: application.id)
                if request.notifies || request.endsSessions {
                    try await store.list(
                        accountsOf: made, changing: change, telling: request.notifies, ending: request.endsSessions,
                        application: application.id)
                }
                // In the other modes people go on signing in.
                if inheritsSessions || request.endsSessions && change.endsSignIn {
                    try await store.listSessions(
                        endedBy: made, after: ProviderSwitch.settled, application: application.id)
                }
                try await store.announceSwitches()
                return made
            }
        }
        await follow()
        return made
    }

    /// Ends the provider's switch; repeated calls change nothing.
    ///
    /// - Throws: `AdministrationError.notFound`.
    package func end(_ provider: String, by act: AdministrativeAct, in application: Application) async throws {
        _ = try Self.provider(provider, of: application)
        let hasEnded = try await store.retryingTransaction(within: .administration) { store in
            let made = try await store.switches(of: application.id).first { $0.provider == provider }
            guard let made, try await store.end(made, because: .ended, by: act, application: application.id) else {
                return false
            }
            try await store.announceSwitches()
            return true
        }
        if hasEnded { await follow() }
    }

    /// The application's switches in force, by provider.
    package func inForce(of application: Application) async throws -> [String: ProviderSwitch] {
        let switches = try await store.switches(of: application.id).filter { !$0.isOver }
        return Dictionary(switches.map { ($0.provider, $0) }) { first, _ in first }
    }

    /// Ends a switch without an administrator: its time is over, or the configuration has changed.
    package func end(_ made: ProviderSwitch, because reason: SwitchEnd, application: Application.ID) async throws {
        try await store.retryingTransaction { store in
            guard try await store.end(made, because: reason, by: nil, application: application) else { return }
            try await store.announceSwitches()
        }
    }

    /// Tells some people that they can't sign in any more, and ends some sessions.
    ///
    /// - Returns: how many accounts were looked at; call again until there are none.
    package func work(on application: Application) async throws -> Int {
        let accounts = try await store.switchedAccounts(limit: 50, application: application.id)
        // In random order, so that replicas rarely wait for one another.
        for account in accounts.shuffled() {
            try await store.retryingTransaction { store in
                let status = try await store.lockAccount(account.uid, application: application.id)
                guard let account = try await store.remove(account, application: application.id), status == .live
                else { return }
                if account.endsSessions {
                    let identities = try await store.identities(of: account.uid, application: application.id)
                    try await store.endSessions(
                        .openedBy(identities.filter { $0.provider == account.provider }.map(\.id)), of: account.uid,
                        because: .providerSwitched, application: application.id)
                }
                guard account.tellsOwner else { return }
                try await OwnerNotices(store: store, application: application.id).send(
                    .signInEnding, toOwnerOf: account.uid, until: account.until,
                    provider: application.providers.displayName(of: account.provider))
            }
        }
        // Afterwards, so that accounts that are listed do not wait if this takes too long.
        for id in try await store.dueListings(application: application.id) {
            try await store.retryingTransaction(within: .planning) { store in
                try await store.listSessions(endedBy: id, application: application.id)
            }
        }
        return accounts.count
    }
}

// MARK: - Checks

extension ProviderSwitches {
    private static func provider(_ name: String, of application: Application) throws -> ConfiguredProvider {
        guard let configured = application.providers[name] else { throw AdministrationError.notFound("provider") }
        return configured
    }

    private func end(of request: SwitchRequest) throws -> Date {
        let now = time.now()
        guard let until = request.until else { return now.addingTimeInterval(SwitchRequest.standardLifetime) }
        // A client that adds 30 days to its own time may have a fast clock.
        guard until > now, until <= now.addingTimeInterval(SwitchRequest.longestLifetime + 60) else {
            throw AccountsError.invalidParameter("until", reason: "is a time within the next 30 days")
        }
        return until
    }

    /// Uses up the plan, and returns the change that it describes.
    ///
    /// - Throws: `AdministrationError.planStale` unless the provider is still in the mode from which the plan starts.
    private static func confirmed(
        _ request: SwitchRequest, of configured: ConfiguredProvider, in application: Application,
        store: any ProviderPlanStore & ProviderSwitchStore
    ) async throws -> (ModeChange, before: (plan: StoredPlan, last: ProviderSwitch?)) {
        let provider = configured.name
        guard let id = request.plan, try await store.lockSwitches(of: application.id),
            let plan = try await store.takePlan(id, of: provider, application: application.id)
        else { throw AdministrationError.planStale }
        let switches = try await store.switches(of: application.id)
        let registry = application.providers.following(switches)
        guard let change = ModeChange(of: provider, to: plan.to, among: registry, under: application.policy),
            change.from == plan.from
        else { throw AdministrationError.planStale }
        let last = switches.first { $0.provider == provider }
        try AdministrationError.require(request.confirm, toBe: plan.to.phrase(for: provider, of: application))
        return (change, (plan, last))
    }

    /// Ends a switch that another one replaces.
    ///
    /// The next one sends the messages and ends the sessions that are left, unless people can sign in again under its mode.
    /// - Returns: whether accounts have to be listed for their sessions once more.
    private static func replace(
        _ last: ProviderSwitch, by next: ProviderSwitch, act: AdministrativeAct, in application: Application,
        store: any ProviderSwitchStore
    ) async throws -> Bool {
        let end = last.end(under: next.fileMode)
        let letsIn = last.mode.isNarrower(than: next.mode) && ProviderMode.linkOnly.isNarrower(than: next.mode)
        let inheritsSessions =
            end == nil && !letsIn ? try await store.handOver(from: last, to: next, application: application.id) : false
        // If it has ended in another way meanwhile, the plan starts from a mode that is no longer in force.
        guard
            try await store.end(
                last, because: end ?? .replaced, by: end == nil ? act : nil, application: application.id)
        else { throw StoreConflict() }
        return inheritsSessions
    }

    /// - Throws: `AdministrationError.wrongState` if the application does not permit the mode.
    private static func require(
        _ mode: ProviderMode, of provider: ConfiguredProvider, in application: Application
    ) throws {
        let fileMode = provider.declaration.mode
        func refuse(_ reason: String) -> AdministrationError { .wrongState(reason: reason) }
        guard mode != fileMode else { throw refuse("The configuration says the same mode; end the switch instead") }
        switch application.policy.switches {
        case .none: throw refuse("`console.switches` of the application permits no switch")
        case .narrower where !mode.isNarrower(than: fileMode):
            throw refuse("`console.switches` of the application permits narrower modes only")
        case .narrower, .any: break
        }
        guard provider.isReady else {
            throw refuse("The provider is off in the configuration, which may lack its settings")
        }
    }
}
