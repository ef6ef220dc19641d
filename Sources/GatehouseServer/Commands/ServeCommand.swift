internal import ArgumentParser
internal import Foundation
internal import Logging
internal import Migrations
internal import Postgres

/// `gatehouse serve`: migrates the schema, then serves until a signal arrives.
struct ServeCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serves the configured applications.")

    @OptionGroup var options: ConfigurationOptions

    func run(installed: InstalledProviders) async throws {
        try await SessionPriority.lowered { try await serve(with: installed) }
    }

    private func serve(with installed: InstalledProviders) async throws {
        let (path, configuration) = try options.load(installed: installed)
        let logger = Logger(label: "gatehouse") { label in LineLogHandler(.json, label: label) }
        try await Backend.with(configuration, logger: logger, schema: .migrated) { backend in
            let server = try await RunningServer(backend, installed: installed, inbox: nil)
            let reload = ConfigurationReload(
                of: configuration, path: path, environment: ProcessInfo.processInfo.environment,
                installed: installed, logger: logger, takeOver: server.take(over:sections:))
            let host = configuration.server.host
            try await server.run(reload: ConfigurationWatcher(reload: reload)) { port in
                logger.notice("serving", metadata: ["host": "\(host)", "port": "\(port)"])
            }
            logger.notice("stopped")
        }
    }
}

/// `gatehouse migrate`.
struct MigrateCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Brings the database's schema up to date.")

    @OptionGroup var options: ConfigurationOptions

    func run(installed: InstalledProviders) async throws {
        let (_, configuration) = try options.load(installed: installed)
        let database = Database(configuration.database.postgres, logger: .forCommands)
        database.start()
        do {
            try await database.ready(within: .seconds(5))
            let applied = try await Migrator(database: database, migrations: Migrations.all).migrate()
            for migration in applied { print("applied \(migration.version) \(migration.name)") }
            print(applied.isEmpty ? "the schema is up to date" : "the schema is up to date now")
        } catch {
            await database.stop()
            throw error
        }
        await database.stop()
    }
}
