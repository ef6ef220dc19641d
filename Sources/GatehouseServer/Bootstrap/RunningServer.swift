internal import Accounts
internal import Delivery
internal import Foundation
internal import HTTPAPI
internal import Hummingbird
internal import Logging
internal import Passwords
internal import ServiceLifecycle
internal import Storage
internal import Tokens
internal import UnixSignals

/// Wires a backend to its services and runs them until a signal or a failure ends them, the last one first: no new
/// requests, then no more messages, then nobody listens to other replicas.
struct RunningServer {
    let backend: Backend
    let useCases: UseCases
    let site: LiveSite
    let delivery: CurrentDelivery
    let worker: QueueWorker<MessageHandler>
    let webhookWorker: QueueWorker<EventHandler>
    let revocationWorker: QueueWorker<RevocationHandler>
    let scopes: LiveScopes
    let backlog: BacklogService
    let hashing: HashingPool
    let hasher: PasswordHasher
    let mix: ParameterMix
    let limits: RateLimiter
    let ports: any ProviderPortsSource
    let api: HTTPAPI

    /// With an inbox, messages are kept there instead of being sent.
    init(_ backend: Backend, installed: InstalledProviders, inbox: DevelopmentInbox?) async throws {
        let configuration = backend.configuration
        let hashing = HashingPool()
        let mix = ParameterMix()
        mix.replace(with: try await PasswordCostsTable(database: backend.database).read())
        let hasher = try PasswordHasher(configuration.passwords, mix: mix, pool: hashing)
        let limits = RateLimiter(
            policy: configuration.rateLimits, counter: RateLimitsTable(database: backend.database),
            opaque: backend.opaque)
        let useCases = UseCases(
            store: backend.store, events: backend.audit, access: backend.access, opaque: backend.opaque,
            hasher: hasher,
            passwords: try StrengthPolicy(minimumLength: configuration.passwords.minimumLength),
            revocations: backend.revocations, limits: limits,
            quarantine: configuration.passwords.quarantine, time: SystemTime())
        let delivery = CurrentDelivery(
            email: try configuration.delivery.emailDelivery(inbox: inbox),
            sms: try configuration.delivery.smsDelivery(by: backend.posting, inbox: inbox),
            composer: try configuration.delivery.composer())
        let worker = QueueWorker(
            MessageHandler(queue: backend.outbox, delivery: delivery), logger: backend.logger)
        let webhookWorker = QueueWorker(
            EventHandler(queue: backend.events(), webhooks: backend.webhooks, by: backend.posting),
            logger: backend.logger)
        let scopes = LiveScopes(try await backend.scopes(of: configuration))
        let revocationWorker = QueueWorker(
            RevocationHandler(queue: backend.revocationQueue(), providers: scopes), logger: backend.logger)
        let backlog = BacklogService(table: BacklogTable(database: backend.database), logger: backend.logger)
        let site = LiveSite(try await backend.site(of: configuration))
        try await backend.replayLedgers(of: scopes.all)
        let ports = installed.ports
        ports.report(to: backend.logger)
        self.backend = backend
        self.useCases = useCases
        self.hashing = hashing
        self.hasher = hasher
        self.mix = mix
        self.limits = limits
        self.delivery = delivery
        self.worker = worker
        self.webhookWorker = webhookWorker
        self.revocationWorker = revocationWorker
        self.scopes = scopes
        self.backlog = backlog
        self.site = site
        self.ports = ports
        api = HTTPAPI(
            useCases: useCases, keys: backend.keys, installed: installed.kinds, site: site,
            health: DatabaseHealth(database: backend.database), metrics: RequestMetrics(),
            gauges: MetricsPage.Gauge.all(
                database: backend.database, channel: backend.channel, hashing: hashing, worker: worker)
                + MetricsPage.Gauge.webhooks(webhookWorker) + MetricsPage.Gauge.revocations(revocationWorker)
                + backlog.gauges
                + MetricsPage.Gauge.upstreams { ports.statistics },
            inbox: inbox)
    }

    /// Returns after a graceful shutdown, which any of the signals begins.
    ///
    /// `reload` watches the configuration's file, where there is one; `onRunning` is called with the port once it is
    /// open. A request that has not arrived in full within `bodyDeadline` loses its connection.
    func run(
        reload: ConfigurationWatcher?, signals: [UnixSignal] = [.sigterm, .sigint],
        bodyDeadline: Duration = .seconds(30),
        onRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) async throws {
        let server = backend.configuration.server
        let (readiness, ready) = AsyncStream.makeStream(of: Void.self)
        let application = Hummingbird.Application(
            responder: api.responder(),
            server: try server.httpServer(bodyDeadline: bodyDeadline),
            configuration: .init(address: .hostname(server.host, port: server.port), serverName: "Gatehouse"),
            onServerRunning: { channel in
                await onRunning(channel.localAddress?.port ?? server.port)
                backend.noteMissingLedgers(of: scopes.all)
                noteTextBudget()
                ready.finish()
            },
            logger: backend.logger)
        var services: [any Service] = [
            ReplicaService(backend: backend), CalibrationService(hasher: hasher, readiness: readiness), worker,
            webhookWorker, revocationWorker, backlog,
            ErasureService(purge: backend.purge, scopes: scopes, logger: backend.logger),
            sweeping, tellingThePlanner, readingPasswordCosts,
            AuditService(
                chain: AuditChain(store: backend.audit, authentication: backend.auditMAC, time: SystemTime()),
                partitions: AuditPartitions(database: backend.database),
                refusals: RefusalsTable(database: backend.database), logger: backend.logger),
        ]
        if let reload { services.append(reload) }
        let group = ServiceGroup(
            configuration: .init(
                // The name would else be all that a service holds, the database and the configuration included.
                services: (services + [application]).map { .init(service: $0, serviceName: "\(type(of: $0))") },
                gracefulShutdownSignals: signals, logger: backend.quietLogger))
        do {
            try await group.run()
        } catch {
            await end()
            throw server.listeningError(error) ?? error
        }
        await end()
    }

    /// Logs how many text messages may leave: the default may be too few for a large application.
    private func noteTextBudget() {
        guard let budget = delivery.sms?.budget else { return }
        func described(_ limit: TextBudget.Limit?) -> Logger.MetadataValue {
            limit.map { "\($0.count) in \($0.window.components.seconds) s" } ?? "off"
        }
        backend.logger.notice(
            "delivery.sms.budget limits text messages",
            metadata: ["total": described(budget.total), "perPrefix": described(budget.perRange)])
    }

    private var sweeping: RepeatedService {
        let rows = ExpiredRows(database: backend.database)
        let failure = FailureLog("Expired rows stay for now", logger: backend.logger)
        return RepeatedService(interval: .seconds(60), failure: failure) { _ = try await rows.remove() }
    }

    private var tellingThePlanner: RepeatedService {
        let statistics = PlannerStatistics(database: backend.database)
        let failure = FailureLog("The planner's statistics stay as they are for now", logger: backend.logger)
        return RepeatedService(interval: .seconds(3), failure: failure) { try await statistics.refresh() }
    }

    /// An unknown address must cost what known ones cost, also after the parameters were raised.
    private var readingPasswordCosts: RepeatedService {
        let table = PasswordCostsTable(database: backend.database)
        let failure = FailureLog("The mix of the passwords' parameters stays as it is for now", logger: backend.logger)
        return RepeatedService(interval: .seconds(60), failure: failure) { [mix] in
            mix.replace(with: try await table.read())
        }
    }

    /// Nobody asks for anything any longer.
    private func end() async {
        await hashing.shutdown()
        await ports.shutdown()
    }

    /// Takes over what a reload may change; `ConfigurationReload` decides what that is.
    func take(over configuration: Configuration, sections: Set<Configuration.Section>) async throws {
        if sections.contains(.applications) {
            backend.policies.take(over: configuration)
            let erased = try await backend.scopes(of: configuration)
            try await backend.replayLedgers(of: erased)
            scopes.replace(with: erased)
        }
        // It also says who learns of people.
        if !sections.isDisjoint(with: [.applications, .webhooks, .delivery]) {
            site.replace(with: try await backend.site(of: configuration))
        }
        if sections.contains(.rateLimits) {
            limits.replace(policy: configuration.rateLimits)
        }
        if sections.contains(.webhooks) {
            backend.webhooks.replace(with: try configuration.webhooks.map { try Webhook($0) })
        }
        if sections.contains(.delivery) {
            delivery.replace(
                email: try configuration.delivery.emailDelivery(inbox: nil),
                sms: try configuration.delivery.smsDelivery(by: backend.posting, inbox: nil),
                composer: try configuration.delivery.composer())
        }
    }
}

/// Hears other replicas: sessions that ended, keys that changed.
private struct ReplicaService: Service {
    let backend: Backend

    /// Also without being told: a replica that hears nothing must not go on signing with a retired key.
    private static let keyReload: Duration = .seconds(60)

    func run() async throws {
        let keyChanges = backend.channel.keyChanges()
        backend.channel.start()
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await backend.revocations.run() }
                group.addTask {
                    for await _ in keyChanges { try? await backend.keys.reloadAll() }
                }
                group.addTask {
                    while (try? await Task.sleep(for: Self.keyReload)) != nil {
                        try? await backend.keys.reloadAll()
                    }
                }
            }
        }
        backend.channel.stop()
    }
}
