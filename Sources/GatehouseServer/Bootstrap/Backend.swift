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

/// The database, the keys, the stores over them and the way to webhooks and the SMS gateway: what every command uses.
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
    /// Set anew when configuration changes the applications.
    let policies: LivePolicies
    /// Likewise for the webhooks.
    let webhooks: CurrentWebhooks
    /// Apart from the providers' network, so that neither delays the other.
    let posting: any HTTPPosting

    package enum Schema {
        /// Brought up to date first.
        case migrated
        /// Must be up to date.
        case current
    }

    /// Runs the body with an open backend and closes that whatever happens.
    ///
    /// `connections` stand in for the configured ones, for work that is not a server's.
    package static func with<Result>(
        _ configuration: Configuration, logger: Logger, schema: Schema,
        connections: Database.Configuration? = nil, _ body: (Backend) async throws -> Result
    ) async throws -> Result {
        let gate = LogGate()
        let database = Database(
            connections ?? configuration.database.postgres,
            logger: Logger(label: logger.label) { _ in OpeningLogHandler(logger, behind: gate) })
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
        let rootKey = try await RootKey.open(
            RootKeyTable(database: database), with: MasterKeys(configuration.secrets))
        let policies = LivePolicies(configuration)
        self.configuration = configuration
        self.logger = logger
        self.database = database
        self.policies = policies
        channel = ReplicaChannel(database: database)
        revocations = RevocationList(database: database, channel: channel) { policies.longestAccessLifetime }
        sealer = Sealer(rootKey: rootKey)
        opaque = DerivedTokens(rootKey: rootKey)
        audit = AuditTable(database: database)
        auditMAC = AuditMAC(rootKey: rootKey)
        keys = KeyRing(store: SigningKeysTable(database: database), sealing: sealer, time: SystemTime())
        access = AccessTokenCodec(keys: keys, time: SystemTime())
        webhooks = CurrentWebhooks(try configuration.webhooks.map { try Webhook($0) })
        posting = network.poster(allowsPrivateHosts: configuration.network.allowPrivateHosts)
        store = SQLStore(
            database: database, sealing: sealer, subscriptions: webhooks, revocations: revocations)
    }

    /// The configured applications as the database numbers them.
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
    /// Half of the connections share single statements, one listens, the rest are for transactions.
    ///
    /// Writes on one connection commit one after the other, so that several are needed.
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
