internal import ArgumentParser
internal import Logging
internal import Migrations
internal import Postgres

/// `gatehouse migrate`: brings the database's schema up to date; nothing else.
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
