internal import Accounts
internal import Delivery
internal import Foundation
package import Logging
internal import Migrations
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
    let audit: AuditTable
    let auditMAC: AuditMAC
    /// The longest lifetime of an access token, updated when the applications are reloaded.
    let accessLifetime: LongestAccessLifetime
    /// The configured webhooks, updated when they are reloaded.
    let webhooks: CurrentWebhooks
    /// The HTTP client for deliveries, which is separate from the providers' network so that neither delays the other.
    let posting: any HTTPPosting

    package enum Schema {
        /// Migrate the schema before the command runs.
        case migrated
        /// Fail if the schema is not up to date.
        case current
    }

    /// Runs the body with an open backend, and closes the backend afterwards.
    ///
    /// `connections` overrides the configured settings of the connections, for commands that do not serve.
    package static func with<Result>(
        _ configuration: Configuration, logger: Logger, schema: Schema,
        connections: Database.Configuration? = nil, _ body: (Backend) async throws -> Result
    ) async throws -> Result {
        let gate = LogGate()
        let database = Database(
            connections ?? configuration.database.postgres,
            logger: Logger(label: logger.label) { _ in GatedLogHandler(logger, behind: gate) })
        let network = OutboundNetwork()
        database.start()
        do {
            try await database.ready(within: .seconds(5))
            gate.open()
            let backend = try await Backend(
                configuration, database: database, network: network, logger: logger, schema: schema)
            let result = try await body(backend)
            await network.shutdown()
            await database.stop()
            return result
        } catch {
            await network.shutdown()
            await database.stop()
            throw error
        }
    }

    private init(
        _ configuration: Configuration, database: Database, network: OutboundNetwork, logger: Logger, schema: Schema
    ) async throws {
        let migrator = Migrator(database: database, migrations: Migrations.all)
        switch schema {
        case .migrated: _ = try await migrator.migrate()
        case .current: guard try await migrator.isCurrent() else { throw ServerError.migrationsMissing }
        }
        let rootKey = try await RootKey.open(RootKeyTable(database: database), with: MasterKeys(configuration.secrets))
        let accessLifetime = LongestAccessLifetime(configuration)
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
        store = SQLStore(database: database, sealing: sealer, subscriptions: webhooks, revocations: revocations)
    }

    /// The configured applications with their numbers in the database.
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
    /// Half of the connections pipeline single statements, one listens, and the rest run transactions.
    ///
    /// Writes on one connection commit one after the other, so pipelining needs several connections.
    var postgres: Database.Configuration {
        let pipelined = max(1, connections / 2)
        var database = Database.Configuration(url: url.value)
        database.pipelined = pipelined
        database.transactions = max(1, connections - pipelined - 1)
        return database
    }
}

extension MasterKeys {
    init(_ secrets: Configuration.Secrets) throws {
        try self.init(current: secrets.masterKey.value, previous: secrets.previousMasterKeys.map(\.value))
    }
}
