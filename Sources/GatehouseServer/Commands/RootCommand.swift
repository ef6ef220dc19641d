internal import ArgumentParser
internal import HTTPAPI
internal import Migrations
internal import Postgres

/// `gatehouse`.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatehouse",
        abstract: "A self-hosted account-linking server: one account per person, however they sign in.",
        version: "\(HTTPAPI.version) (schema \(Migrations.all.last?.version ?? 0))",
        subcommands: [
            ServeCommand.self, DevelopmentCommand.self, MigrateCommand.self, DistributeCommand.self,
            ConfigurationCommand.self, KeysCommand.self, AccountCommand.self, AdminCommand.self, ClientCommand.self,
            OpenIDCommand.self,
            DialectCommand.self, ExplainCommand.self, PurgeCommand.self, AuditCommand.self, PrivacyRecordCommand.self,
        ])
}
