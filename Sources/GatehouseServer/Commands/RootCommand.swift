internal import ArgumentParser
internal import Foundation

/// `gatehouse`.
struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatehouse",
        abstract: "A self-hosted account-linking server: one account per person, however they sign in.",
        subcommands: [
            ServeCommand.self, DevelopmentCommand.self, MigrateCommand.self, ConfigurationCommand.self,
            KeysCommand.self, AccountCommand.self, ExplainCommand.self, PurgeCommand.self, AuditCommand.self,
            PrivacyRecordCommand.self, BenchCommand.self,
        ])
}

/// Which configuration a command works with.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: "The configuration file; GATEHOUSE_CONFIG stands in for it.")
    var config: String?

    /// - Throws: `ServerError.noConfiguration`, or everything that is wrong with the file.
    func load() throws -> (path: String, configuration: Configuration) {
        let environment = ProcessInfo.processInfo.environment
        guard let path = config ?? environment["GATEHOUSE_CONFIG"], !path.isEmpty else {
            throw ServerError.noConfiguration
        }
        let configuration = try Configuration.load(
            path: path, environment: environment, installed: Installation.providers)
        return (path, configuration)
    }
}
