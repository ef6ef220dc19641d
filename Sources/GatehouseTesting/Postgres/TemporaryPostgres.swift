import Foundation
package import GatehouseServer
package import Postgres

/// PostgreSQL for tests: one cluster for each test process, started by the first test that needs it and removed when
/// the process ends; or the server that `GATEHOUSE_TEST_DATABASE` names, in databases that are dropped then.
package enum TemporaryPostgres {
    private static let shared = Shared()

    /// Returns the URL of a new database to which these migrations have been applied.
    ///
    /// The database is a copy of a template, which is created once for each list of migrations.
    package static func database(migrations: [Migration] = []) async throws -> String {
        try await shared.database(migrations: migrations)
    }

    /// Whether the tables of the databases are distributed over the nodes of a Citus cluster.
    package static var isDistributed: Bool {
        get async throws { try await shared.isDistributed }
    }

    /// Runs the body with a new database, which is dropped afterwards.
    package static func withDatabase<Output>(
        migrations: [Migration] = [], isolation: isolated (any Actor)? = #isolation,
        _ body: (_ url: String) async throws -> Output
    ) async throws -> Output {
        let url = try await database(migrations: migrations)
        do {
            let result = try await body(url)
            try await shared.drop(url: url)
            return result
        } catch {
            try? await shared.drop(url: url)
            throw error
        }
    }

    /// Creates a cluster for one test that stops or damages it; the cluster is not started yet.
    package static func cluster(durable: Bool = false) -> PrivateCluster {
        var options = PrivateCluster.Options()
        options.durable = durable
        options.ephemeral = true
        // The limit is high because each suite has its own connection pool. Autovacuum would visit each of hundreds of
        // databases every minute.
        options.settings = [
            "max_connections": "300", "shared_buffers": "64MB", "max_wal_size": "256MB", "autovacuum": "off",
        ]
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        return PrivateCluster(directory: "\(directory)/gatehouse-\(name)", options: options)
    }

    /// A file system in memory if there is one with enough space, because a database has hundreds of files.
    private static let directory: String = {
        let memory = "/dev/shm"
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: memory)
        let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
        return free >= 4 << 30 ? memory : "/tmp"
    }()

    private actor Shared {
        private var host: (any DatabaseHost)?
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

        var isDistributed: Bool {
            get async throws { try await runningHost().isDistributed }
        }

        func drop(url: String) async throws {
            try await host?.drop(url: url)
        }

        private func make(_ migrations: [Migration]) async throws -> String {
            let host = try await runningHost()
            return host.url(database: try await newDatabase(in: host, template: try await template(of: migrations)))
        }

        private func runningHost() async throws -> any DatabaseHost {
            if let host { return host }
            let new: any DatabaseHost
            if let named = try await NamedServer() {
                new = named
            } else {
                let cluster = TemporaryPostgres.cluster()
                try await cluster.start()
                new = cluster
            }
            host = new
            return new
        }

        private func template(of migrations: [Migration]) async throws -> String? {
            let host = try await runningHost()
            guard !migrations.isEmpty || host.isDistributed else { return nil }
            let key = migrations.map(\.checksum)
            if let known = templates[key] { return known }
            let name = try await newDatabase(in: host, template: nil)
            if !migrations.isEmpty {
                try await NamedServer.withDatabase(host.url(database: name)) { database in
                    _ = try await Migrator(database: database, migrations: migrations).migrate()
                }
            }
            try await host.prepareTemplate(name)
            templates[key] = name
            return name
        }

        private func newDatabase(in host: any DatabaseHost, template: String?) async throws -> String {
            count += 1
            let name = "test\(count)"
            try await host.createDatabase(name, template: template)
            return name
        }
    }
}

/// A server on which tests create databases.
protocol DatabaseHost: Sendable {
    /// Whether the tables of its databases are distributed.
    var isDistributed: Bool { get }
    func url(database: String) -> String
    /// Creates a database, as a copy of `template` if one is given.
    func createDatabase(_ name: String, template: String?) async throws
    /// Makes the database, whose schema is complete, ready to be copied.
    func prepareTemplate(_ name: String) async throws
    func drop(url: String) async throws
}

extension PrivateCluster: DatabaseHost {
    var isDistributed: Bool { false }

    func prepareTemplate(_ name: String) {}

    func drop(url: String) async throws {
        guard let name = URLComponents(string: url)?.path.dropFirst() else { return }
        try await dropDatabase(String(name))
    }
}
