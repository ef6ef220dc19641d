internal import Accounts
internal import Delivery
internal import Foundation
internal import HTTPAPI
package import Logging
internal import Migrations
internal import OpenID
internal import Outbound
package import Postgres
internal import ProviderKit
internal import Storage
package import Tokens

/// The parts that every command uses: the database, the keys, the stores and the client for webhooks and the SMS
/// gateway.
package struct Backend {
    package let configuration: Configuration
    let logger: Logger
    package let database: Database
    let channel: ReplicaChannel
    let revocations: RevocationList
    let sealer: Sealer
    package let opaque: DerivedTokens
    let keys: KeyRing
    let access: AccessTokenCodec
    let store: SQLStore
    let statistics = Statistics()
    let audit: AuditTable
    let auditMAC: AuditMAC
    /// The longest lifetime of an access token in any application since the process started.
    let accessLifetime: Current<Duration>
    /// The configured webhooks, updated when they are reloaded.
    let webhooks: CurrentWebhooks
    /// The HTTP client for deliveries, which is separate from the providers' network so that neither delays the other.
    let posting: any HTTPPosting
    /// The HTTP client for deliveries to URLs of clients that registered themselves.
    let registeredPosting: any HTTPPosting

    package enum Schema {
        /// Migrate the schema before the server runs.
        case migrated
        /// Fail if the schema is not up to date.
        case current
    }

    /// Runs the body with an open backend, and closes the backend afterwards.
    ///
    /// `connections` overrides the configured settings of the connections, for commands that do not serve.
    package static func with<Output>(
        _ configuration: Configuration, logger: Logger, schema: Schema,
        connections: Database.Configuration? = nil, _ body: (Backend) async throws -> Output
    ) async throws -> Output {
        let gate = LogGate()
        let database = Database(
            connections ?? configuration.database.postgres,
            logger: Logger(label: logger.label) { _ in GatedLogHandler(logger, behind: gate) })
        let network = OutboundNetwork()
        // For hosts named by clients that registered themselves (`UpstreamPorts.foreign`).
        let foreign = OutboundNetwork()
        database.start()
        return try await attempt {
            try await database.ready(within: .seconds(5))
            gate.open()
            let backend = try await Backend(
                configuration, database: database, network: network, foreign: foreign, logger: logger, schema: schema)
            return try await body(backend)
        } finally: {
            await network.shutdown()
            await foreign.shutdown()
            await database.stop()
        }
    }

    private init(
        _ configuration: Configuration, database: Database, network: OutboundNetwork, foreign: OutboundNetwork,
        logger: Logger, schema: Schema
    ) async throws {
        let migrator = Migrator(database: database, migrations: Migrations.all)
        switch schema {
        case .migrated: _ = try await migrator.migrate()
        case .current: guard try await migrator.isCurrent() else { throw ServerError.migrationsMissing }
        }
        let rootKey = try await RootKey.open(
            RootKeyTable(database: database), with: MasterKeys(configuration.secrets), renewing: schema == .migrated)
        let accessLifetime = Current(configuration.longestAccessLifetime)
        self.configuration = configuration
        self.logger = logger
        self.database = database
        self.accessLifetime = accessLifetime
        channel = ReplicaChannel(database: database)
        revocations = RevocationList(database: database, channel: channel) { accessLifetime.value }
        sealer = Sealer(rootKey: rootKey)
        opaque = DerivedTokens(rootKey: rootKey)
        audit = AuditTable(database: database)
        auditMAC = AuditMAC(rootKey: rootKey)
        keys = KeyRing(store: SigningKeysTable(database: database), sealing: sealer, time: SystemTime())
        access = AccessTokenCodec(keys: keys, time: SystemTime())
        webhooks = CurrentWebhooks(try configuration.webhooks.map { try Webhook($0) })
        posting = network.poster(allowsPrivateHosts: configuration.network.allowPrivateHosts)
        registeredPosting = foreign.poster(allowsPrivateHosts: configuration.allowsPrivateHostsOfOthers)
        store = SQLStore(
            database: database, sealing: sealer, subscriptions: webhooks, revocations: revocations,
            statistics: statistics)
        if schema == .migrated { _ = try await applications(of: configuration) }
        webhooks.replace(logoutURIs: try await logoutURIs(of: configuration))
    }

    /// The back-channel logout URIs of the configured clients.
    ///
    /// An application without a number was never served, and has no session that could end.
    func logoutURIs(of configuration: Configuration) async throws -> CurrentWebhooks.LogoutURIs {
        var uris: CurrentWebhooks.LogoutURIs = [:]
        for (id, name) in try await ApplicationsTable(database: database).all() {
            guard let openID = configuration.application(named: name)?.openID else { continue }
            uris[id] = openID.clients.compactMapValues(\.backchannelLogoutURI)
        }
        return uris
    }

    /// The configured applications with their numbers in the database; new ones get theirs.
    func applications(of configuration: Configuration) async throws -> [Accounts.Application] {
        let table = ApplicationsTable(database: database)
        var applications: [Accounts.Application] = []
        for configured in configuration.applications {
            applications.append(configured.application(id: try await table.number(of: configured.name)))
        }
        return applications
    }
}

extension Configuration.Database {
    /// Half of the connections, or fewer, pipeline single statements, and the rest run transactions; the listener has
    /// its own.
    ///
    /// Writes on one connection commit one after the other, so pipelining needs several connections. At least three run
    /// transactions, because calls of administrators may take two (`AdminCapacity`).
    var postgres: Database.Configuration {
        let pipelined = max(1, min(connections / 2, connections - 3))
        var database = Database.Configuration(url: url.value)
        database.pipelined = pipelined
        database.transactions = max(3, connections - pipelined)
        return database
    }
}

extension MasterKeys {
    init(_ secrets: Configuration.Secrets) throws {
        try self.init(current: secrets.masterKey.value, previous: secrets.previousMasterKeys.map(\.value))
    }
}

extension Backend {
    /// The applications of a configuration as they are served, with their numbers and signing keys.
    func site(of configuration: Configuration) async throws -> Site {
        let applications = try await applications(of: configuration)
        for application in applications {
            let isProvider = configuration.application(named: application.name)?.openID != nil
            try await keys.prepare(application, for: isProvider ? [.accessTokens, .identityTokens] : [.accessTokens])
            for provider in application.providers.idle {
                logger.warning(
                    "this version has no way to sign in with a configured provider",
                    metadata: ["application": "\(application.name)", "provider": "\(provider.name)"])
            }
        }
        let hosts = configuration.applications.flatMap { application in
            application.hosts.map { ($0, application.name) }
        }
        let proxies = configuration.server.trustedProxies
        return Site(
            applications: Dictionary(
                uniqueKeysWithValues: zip(applications, configuration.applications).map { application, configured in
                    let served = ServedApplication(
                        application: application, origins: Set(configured.origins),
                        recipients: configuration.recipients(of: configured),
                        openID: configuration.openID(of: configured),
                        dialects: configured.dialects)
                    return (application.name, served)
                }),
            hosts: Dictionary(hosts) { first, _ in first },
            defaultApplication: configuration.defaultApplication ?? "",
            publicURL: configuration.server.publicURL,
            isDevelopment: configuration.server.development,
            endsTLS: configuration.server.tls != nil,
            isTrustedProxy: { address in proxies.contains { $0.contains(address) } },
            administration: configuration.admin.flatMap { admin in
                applications.first { $0.name == admin.application }.map { home in
                    AdministrationSettings(
                        home: home, clients: admin.allow, hasOwnListener: configuration.server.admin != nil,
                        longestKeyLifetime: admin.serviceKeys.longest, console: configuration.console)
                }
            })
    }

    var outbox: OutboxTable { OutboxTable(database: database, sealing: sealer, arrivals: channel.outboxArrivals()) }

    func events(_ scope: DeliveryScope = .all) -> WebhookDeliveriesTable {
        WebhookDeliveriesTable(database: database, scope: scope, arrivals: channel.outboxArrivals())
    }

    /// The logger for libraries, whose notices are of no interest to an administrator.
    var quietLogger: Logger {
        var logger = logger
        logger.logLevel = .warning
        return logger
    }
}
