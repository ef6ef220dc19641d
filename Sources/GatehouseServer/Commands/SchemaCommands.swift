internal import ArgumentParser
internal import Logging
internal import Migrations
internal import Postgres

/// `gatehouse migrate`.
struct MigrateCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Brings the database's schema up to date.")

    @OptionGroup var options: ConfigurationOptions

    func run(installed: InstalledProviders) async throws {
        try await options.withDatabase(installed) { database in
            let applied = try await Migrator(database: database, migrations: Migrations.all).migrate()
            for migration in applied { print("applied \(migration.version) \(migration.name)") }
            print(applied.isEmpty ? "the schema is up to date" : "the schema is up to date now")
        }
    }
}

/// `gatehouse distribute`.
struct DistributeCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "distribute",
        abstract: "Distributes the tables over the nodes of a Citus cluster, so that each application is on one node.",
        discussion: """
            Stop the servers first. Prints each statement that it runs. A run that was interrupted is continued by the
            next one; on a database that is distributed already, it only checks the tables and the nodes' settings.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Only prints the statements that it would run, and checks the nodes' settings.")
    var dryRun = false

    func run(installed: InstalledProviders) async throws {
        try await options.withDatabase(installed) { database in
            guard try await Migrator(database: database, migrations: Migrations.all).isCurrent() else {
                throw ServerError.migrationsMissing
            }
            let distribution = Distribution(database: database)
            let steps = try await distribution.missingSteps()
            if !steps.isEmpty { print("SET \(Distribution.setting);") }
            if dryRun {
                for step in steps { print("\(step);") }
            } else {
                try await distribution.run { print("\($0);") }
            }
            try await distribution.check()
            print(
                steps.isEmpty
                    ? "the tables are distributed" : dryRun ? "nothing was changed" : "the tables are distributed now")
        }
    }
}

extension ConfigurationOptions {
    /// Runs the body with the configured database, whatever its schema.
    fileprivate func withDatabase(_ installed: InstalledProviders, _ body: (Database) async throws -> Void) async throws
    {
        let (_, configuration) = try load(installed: installed)
        let database = Database(configuration.database.postgres, logger: .forCommands)
        database.start()
        try await attempt {
            try await database.ready(within: .seconds(5))
            try await body(database)
        } finally: {
            await database.stop()
        }
    }
}
