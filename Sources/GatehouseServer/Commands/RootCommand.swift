internal import ArgumentParser
internal import Foundation

/// `gatehouse`.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatehouse",
        abstract: "A self-hosted account-linking server: one account per person, however they sign in.",
        subcommands: [
            ServeCommand.self, DevelopmentCommand.self, MigrateCommand.self, ConfigurationCommand.self,
            KeysCommand.self, AccountCommand.self, ExplainCommand.self, PurgeCommand.self, AuditCommand.self,
            PrivacyRecordCommand.self,
        ])
}

/// A command that needs the providers that the program was built with.
protocol ServerCommand: ParsableCommand {
    func run(installed: InstalledProviders) async throws
}

/// The configuration that a command works with.
package struct ConfigurationOptions: ParsableArguments {
    @Option(help: "The configuration file; the default is the value of GATEHOUSE_CONFIG.")
    var config: String?

    package init() {}

    /// - Throws: `ServerError.noConfiguration`, or everything that is wrong with the file.
    package func load(installed: InstalledProviders) throws -> (path: String, configuration: Configuration) {
        let environment = ProcessInfo.processInfo.environment
        guard let path = config ?? environment["GATEHOUSE_CONFIG"], !path.isEmpty else {
            throw ServerError.noConfiguration
        }
        return (path, try Configuration.load(path: path, environment: environment, installed: installed))
    }
}
