package import GatehouseServer
import Logging
package import Postgres

/// PostgreSQL for tests: one cluster for each test process, started by the first test that needs it and removed when
/// the process ends.
package enum TemporaryPostgres {
    private static let shared = Shared()

    /// Returns the URL of a new database to which these migrations have been applied.
    ///
    /// The database is a copy of a template, which is created once for each list of migrations.
    package static func database(migrations: [Migration] = []) async throws -> String {
        try await shared.database(migrations: migrations)
    }

    /// Creates a cluster for one test that stops or damages it; the cluster is not started yet.
    package static func cluster(durable: Bool = false) -> PrivateCluster {
        var options = PrivateCluster.Options()
        options.durable = durable
        options.ephemeral = true
        // The limit is high because each suite has its own connection pool.
        options.settings = ["max_connections": "300", "shared_buffers": "64MB"]
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        return PrivateCluster(directory: "/tmp/gatehouse-\(name)", options: options)
    }

    private actor Shared {
        private var cluster: PrivateCluster?
        private var templates: [[[UInt8]]: String] = [:]
        private var count = 0
        private var latest: Task<String, any Error>?

        /// Creates a database after all earlier calls have ended, because PostgreSQL cannot copy a template while
        /// another copy of it is being made.
        func database(migrations: [Migration]) async throws -> String {
            let previous = latest
            // A separate task, so that the next call can wait for this one, even if this one is cancelled.
            let task = Task {
                _ = await previous?.result
                return try await make(migrations)
            }
            latest = task
            return try await task.value
        }

        private func make(_ migrations: [Migration]) async throws -> String {
            let cluster = try await runningCluster()
            let template = try await template(of: migrations, in: cluster)
            return cluster.url(database: try await newDatabase(in: cluster, template: template))
        }

        private func runningCluster() async throws -> PrivateCluster {
            if let cluster { return cluster }
            let new = TemporaryPostgres.cluster()
            try await new.start()
            cluster = new
            return new
        }

        private func template(of migrations: [Migration], in cluster: PrivateCluster) async throws -> String? {
            guard !migrations.isEmpty else { return nil }
            let key = migrations.map(\.checksum)
            if let known = templates[key] { return known }
            let name = try await newDatabase(in: cluster, template: nil)
            var configuration = Database.Configuration(url: cluster.url(database: name))
            configuration.pipelined = 1
            configuration.transactions = 1
            let database = Database(configuration, logger: Logger(label: "template"))
            database.start()
            do {
                _ = try await Migrator(database: database, migrations: migrations).migrate()
            } catch {
                await database.stop()
                throw error
            }
            await database.stop()
            templates[key] = name
            return name
        }

        private func newDatabase(in cluster: PrivateCluster, template: String?) async throws -> String {
            count += 1
            let name = "test\(count)"
            try await cluster.createDatabase(name, template: template)
            return name
        }
    }
}
