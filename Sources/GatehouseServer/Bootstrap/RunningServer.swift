internal import Accounts
internal import Administration
internal import Delivery
internal import Foundation
internal import HTTPAPI
internal import Logging
internal import OpenID
internal import Passwords
internal import Postgres
internal import ProviderKit
internal import ServiceLifecycle
internal import Storage
internal import Tokens
internal import UnixSignals

/// The services of a server, created from a backend.
///
/// `run` starts them all. A signal or a failure ends them in reverse order: first new requests, then deliveries, then
/// the notifications of other replicas.
struct RunningServer {
    let backend: Backend
    let useCases: UseCases
    let site: LiveSite
    let switches: SwitchFollower
    let delivery: CurrentDelivery
    let worker: QueueWorker<MessageHandler>
    let webhookWorker: QueueWorker<EventHandler>
    let revocationWorker: QueueWorker<RevocationHandler>
    let logoutWorker: QueueWorker<LogoutHandler>
    let scopes: CurrentScopes
    let backlog = Current(Backlog())
    let liveBearers = Current(0)
    let hashing: HashingPool
    let hasher: PasswordHasher
    /// The distribution of parameters among the stored password hashes.
    let mix = ParameterMix()
    let limits: RateLimiter
    let ports: any ProviderPortsSource
    let waiters = HandoffWaiters()
    let introspections: IntrospectionCounts
    /// What administrators see of the configuration.
    let live: LiveConfiguration
    let api: HTTPAPI

    /// If `inbox` is set, it keeps messages instead of sending them.
    init(
        _ backend: Backend, installed: InstalledProviders, inbox: DevelopmentInbox?,
        hashing: HashingPool = HashingPool(cores: ProcessInfo.processInfo.activeProcessorCount)
    ) async throws {
        let configuration = backend.configuration
        self.backend = backend
        self.hashing = hashing
        ports = installed.ports
        mix.replace(with: try await PasswordCostsTable(database: backend.database).read())
        hasher = try PasswordHasher(configuration.passwords, mix: mix, pool: hashing)
        limits = RateLimiter(
            policy: configuration.rateLimits, counter: RateLimitsTable(database: backend.database),
            opaque: backend.opaque)
        let jwts = ApplicationJWTCodec(keys: backend.keys)
        useCases = UseCases(
            store: backend.store, events: backend.audit, access: backend.access, jwts: jwts, opaque: backend.opaque,
            hasher: hasher, passwords: try StrengthPolicy(minimumLength: configuration.passwords.minimumLength),
            revocations: backend.revocations, limits: limits, quarantine: configuration.passwords.quarantine,
            time: SystemTime(), statistics: backend.statistics, findings: installed.ports.findings)
        delivery = CurrentDelivery(
            email: try configuration.delivery.emailDelivery(inbox: inbox),
            sms: try configuration.delivery.smsDelivery(by: backend.posting, inbox: inbox),
            composer: try configuration.delivery.composer())
        scopes = CurrentScopes(try await backend.scopes(of: configuration))
        worker = QueueWorker(
            MessageHandler(queue: backend.outbox, delivery: delivery, statistics: backend.statistics),
            logger: backend.logger)
        webhookWorker = QueueWorker(
            EventHandler(queue: backend.events(), webhooks: backend.webhooks, by: backend.posting),
            logger: backend.logger)
        revocationWorker = QueueWorker(
            RevocationHandler(queue: backend.revocationQueue(), providers: scopes), logger: backend.logger)
        site = LiveSite(try await backend.site(of: configuration))
        switches = SwitchFollower(backend: backend, site: site, types: installed.kinds, time: useCases.time)
        // A restart keeps the switches.
        try await switches.refresh()
        // The keys of clients are fetched apart from those of providers, and those of registered clients apart from both.
        let (clientKeys, registeredKeys) = (
            ports.ports(
                for: PortsOwner(application: "", provider: "openid"),
                allowsPrivateHosts: configuration.network.allowPrivateHosts
            ).tokens,
            ports.ports(for: .registeredClients, allowsPrivateHosts: configuration.allowsPrivateHostsOfOthers).tokens
        )
        let openID = OpenIDUseCases(
            store: backend.store, accounts: useCases, jwts: jwts,
            access: backend.access, opaque: backend.opaque, keys: clientKeys, registeredKeys: registeredKeys,
            revocations: backend.revocations, places: try configuration.network.places, waiters: waiters,
            time: SystemTime())
        introspections = openID.introspections
        backend.channel.wake(waiters)
        logoutWorker = QueueWorker(
            LogoutHandler(
                queue: backend.events(), webhooks: backend.webhooks,
                tokens: SiteLogoutTokens(site: site, issuing: openID.logoutTokens), by: backend.posting,
                toRegistered: backend.registeredPosting),
            logger: backend.logger)
        try await backend.replayLedgers(of: scopes.value)
        ports.report(to: backend.logger)
        live = LiveConfiguration(configuration)
        let ofAdministrators = ServerPorts(
            webhooks: WebhookPosting(current: backend.webhooks, http: backend.posting), keys: backend.keys,
            chain: backend.audit, limits: limits, configuration: live)
        let workers = MetricsPage.Gauge.Workers(
            outbox: worker, webhooks: webhookWorker, revocations: revocationWorker, logouts: logoutWorker)
        api = HTTPAPI(
            useCases: useCases, openID: openID,
            administration: AdministrationUseCases(
                store: backend.store,
                capacity: AdminCapacity(transactions: backend.configuration.database.postgres.transactions),
                accounts: useCases, sealing: backend.sealer, opaque: backend.opaque, switches: switches.useCase,
                ports: ofAdministrators,
                providers: ServerProviders(
                    installed: installed, delivery: delivery,
                    allowsPrivateHosts: configuration.network.allowPrivateHosts,
                    allowsPrivateHostsOfCandidates: configuration.allowsPrivateHostsOfOthers)),
            keys: backend.keys, installed: installed.kinds, site: site,
            health: DatabaseHealth(database: backend.database), metrics: RequestMetrics(),
            gauges: MetricsPage.Gauge.all(
                backend, hashing: hashing, workers: workers, backlog: backlog, liveBearers: liveBearers,
                upstreams: ports, live: live),
            inbox: inbox)
    }

    /// Runs until one of the signals arrives, and returns after a graceful shutdown.
    ///
    /// `reload` watches the configuration file. `onRunning` is called with the port once it is open. `transferDeadline`
    /// limits how long a client may take for a handshake, to send a request and to read a response.
    func run(
        reload: ConfigurationWatcher?, signals: [UnixSignal] = [.sigterm, .sigint],
        transferDeadline: Duration = .seconds(30), onRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) async throws {
        let (readiness, ready) = AsyncStream.makeStream(of: Void.self)
        let services: [any Service] =
            backgroundServices(readiness: readiness) + (reload.map { [$0] } ?? [])
            + [
                try listener(transferDeadline: transferDeadline) { port in
                    await onRunning(port)
                    backend.noteMissingLedgers(of: scopes.value)
                    noteTextBudget()
                    ready.finish()
                },
                HandoffShutdown(waiters: waiters),
            ] + (try administrationListener(transferDeadline: transferDeadline))
        let group = ServiceGroup(
            configuration: .init(
                // Without a name, a service would be logged with all its properties, such as the database and the
                // configuration.
                services: services.map { .init(service: $0, serviceName: "\(type(of: $0))") },
                gracefulShutdownSignals: signals, logger: backend.quietLogger))
        do {
            try await group.run()
        } catch {
            await end()
            throw error
        }
        await end()
    }

    private func end() async {
        await endAudit()
        await endStatistics()
        await hashing.shutdown()
        await ports.shutdown()
    }

    /// Logs how many text messages may be sent: the default may be too low for a large application.
    private func noteTextBudget() {
        guard let budget = delivery.sms?.budget else { return }
        func described(_ limit: Rate?) -> Logger.MetadataValue {
            limit.map { "\($0.count) in \($0.window.components.seconds) s" } ?? "off"
        }
        backend.logger.notice(
            "delivery.sms.budget limits text messages",
            metadata: ["total": described(budget.total), "perPrefix": described(budget.perRange)])
    }

    /// Applies the changed sections of a reloaded configuration.
    func take(over configuration: Configuration, sections: Set<Configuration.Section>) async throws {
        // Everything that may fail comes first, so that a configuration is never in force by half. The site is the last,
        // because it makes signing keys.
        let webhooks = try configuration.webhooks.map { try Webhook($0) }
        let email = try configuration.delivery.emailDelivery(inbox: nil)
        let sms = try configuration.delivery.smsDelivery(by: backend.posting, inbox: nil)
        let composer = try configuration.delivery.composer()
        var applications: (scopes: [ErasureScope], logoutURIs: CurrentWebhooks.LogoutURIs)?
        if sections.contains(.applications) {
            let changed = try await backend.scopes(of: configuration)
            try await backend.replayLedgers(of: changed)
            applications = (changed, try await backend.logoutURIs(of: configuration))
        }
        // The site depends on all of these, because it also lists the recipients of personal data.
        let hasChanged = !sections.isDisjoint(with: [.applications, .webhooks, .delivery, .admin])
        let changedSite = hasChanged ? try await backend.site(of: configuration) : nil

        if let applications {
            // It never falls, because tokens issued earlier stay valid for their own lifetime.
            backend.accessLifetime.update { $0 = max($0, configuration.longestAccessLifetime) }
            scopes.replace(with: applications.scopes)
            backend.webhooks.replace(logoutURIs: applications.logoutURIs)
        }
        if let changedSite {
            site.replace(with: changedSite)
            await switches.followReload()
        }
        if sections.contains(.rateLimits) { limits.replace(policy: configuration.rateLimits) }
        if sections.contains(.webhooks) { backend.webhooks.replace(with: webhooks) }
        if sections.contains(.delivery) { delivery.replace(email: email, sms: sms, composer: composer) }
    }
}
