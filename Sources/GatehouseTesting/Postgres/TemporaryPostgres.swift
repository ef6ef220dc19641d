package import GatehouseServer
import Logging
package import Postgres

/// PostgreSQL for tests: one cluster per test process, started by the first test that asks, gone with the process.
package enum TemporaryPostgres {
    private static let shared = Shared()

    /// The URL of a new database with these migrations applied: the copy of a template made once per list of
    /// migrations.
    package static func database(migrations: [Migration] = []) async throws -> String {
        try await shared.database(migrations: migrations)
    }

    /// A cluster of the test's own, not started yet, for tests which break it.
    package static func cluster(durable: Bool = false) -> PrivateCluster {
        var options = PrivateCluster.Options()
        options.durable = durable
        options.ephemeral = true
        // every suite has a pool of its own
        options.settings = ["max_connections": "300", "shared_buffers": "64MB"]
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        return PrivateCluster(directory: "/tmp/gatehouse-\(name)", options: options)
    }

    private actor Shared {
        private var cluster: PrivateCluster?
        private var templates: [[[UInt8]]: String] = [:]
        private var count = 0
        private var latest: Task<String, any Error>?

        /// One at a time: PostgreSQL refuses to copy a template which another copy is being made of.
        func database(migrations: [Migration]) async throws -> String {
            let previous = latest
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
