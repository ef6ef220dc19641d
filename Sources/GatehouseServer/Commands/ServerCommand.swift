package import Accounts
internal import Administration
internal import ArgumentParser
internal import Foundation
internal import Logging

/// A command that receives the installed providers from `GatehouseServer.run`; the argument parser cannot pass them,
/// because it creates commands from their types alone.
protocol ServerCommand: ParsableCommand {
    func run(installed: InstalledProviders) async throws
}

/// The configuration that a command works with.
package struct ConfigurationOptions: ParsableArguments {
    @Option(help: "The configuration file. Default: the environment variable GATEHOUSE_CONFIG.")
    var config: String?

    package init() {}

    /// - Throws: `ServerError.noConfiguration`, or all problems of the file.
    package func load(
        installed: InstalledProviders, ignoringStatements: Bool = false
    ) throws -> (path: String, configuration: Configuration) {
        let environment = ProcessInfo.processInfo.environment
        guard let path = config ?? environment["GATEHOUSE_CONFIG"], !path.isEmpty else {
            throw ServerError.noConfiguration
        }
        let configuration = try Configuration.load(
            path: path, environment: environment, installed: installed, ignoringStatements: ignoringStatements)
        return (path, configuration)
    }

    /// Runs the body with the configured database, which must have the schema of this version.
    ///
    /// - Throws: `ServerError.refusedOption` in place of `AccountsError.invalidParameter`.
    func withBackend(
        _ installed: InstalledProviders, ignoringStatements: Bool = false, _ body: (Backend) async throws -> Void
    ) async throws {
        let (_, configuration) = try load(installed: installed, ignoringStatements: ignoringStatements)
        do {
            try await Backend.with(configuration, logger: .forCommands, schema: .current, body)
        } catch AccountsError.invalidParameter(let name, let reason) {
            // The option `--expires` of several commands is `expiresIn` in the admin API.
            throw ServerError.refusedOption(name == "expiresIn" ? "expires" : name, reason: reason)
        }
    }
}

extension Logger {
    /// A logger for errors of libraries; commands print their results to standard output.
    static var forCommands: Logger {
        Logger(label: "gatehouse") { label in LineLogHandler(.readable, label: label, level: .error) }
    }
}

extension Backend {
    /// The application of that name, or all applications if there is no name.
    /// - Throws: `ServerError.unknownApplication`.
    package func applications(named name: String?) async throws -> [Accounts.Application] {
        let all = try await applications(of: configuration)
        guard let name else { return all }
        guard let one = all.first(where: { $0.name == name }) else { throw ServerError.unknownApplication(name) }
        return [one]
    }

    /// The application of that name, without one the default application, or the only one.
    /// - Throws: `ServerError.unknownApplication`.
    func application(named name: String?) async throws -> Accounts.Application {
        let all = try await applications(named: name ?? configuration.defaultApplication)
        guard let application = all.first, all.count == 1 else { throw ServerError.noDefaultApplication }
        return application
    }
}

extension AdministrativeAct {
    /// An act by a command on this host.
    static var ofThisHost: Self { AdministrativeAct(by: .command(host: ProcessInfo.processInfo.hostName)) }
}

extension UUID {
    /// Parses an argument that is a uid.
    static func argument(_ text: String) throws -> UUID {
        guard let uid = UUID(uuidString: text) else { throw ValidationError("\(text) is not a uid") }
        return uid
    }
}
