package import Accounts
internal import ArgumentParser
internal import Logging
internal import Storage
internal import Tokens

/// `gatehouse keys`.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Looks after the keys that sign access tokens.", subcommands: [Rotate.self])

    /// `gatehouse keys rotate`: running servers hear of the new key at once and sign with it; the old one stays
    /// published until the last token that it signed has expired.
    struct Rotate: ServerCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate", abstract: "Makes a new signing key for each application, or for one.")

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "Only this application's.")
        var application: String?

        func run(installed: InstalledProviders) async throws {
            let (_, configuration) = try options.load(installed: installed)
            try await Backend.with(configuration, logger: .forCommands, schema: .current) { backend in
                for application in try await backend.applications(named: application) {
                    try await backend.keys.rotate(application)
                    try await backend.store.record(AuditEntry(.keysRotated), application: application.id)
                    print("\(application.name) signs with a new key")
                }
            }
        }
    }
}

extension Logger {
    /// A command's own words go to standard output; what the libraries say matters only when it is bad.
    static var forCommands: Logger {
        Logger(label: "gatehouse") { label in ReadableLogHandler(label: label, level: .error) }
    }
}

extension Backend {
    /// The named one, or all of them without a name.
    ///
    /// - Throws: `ServerError.unknownApplication`.
    package func applications(named name: String?) async throws -> [Accounts.Application] {
        let all = try await applications(of: configuration)
        guard let name else { return all }
        guard let one = all.first(where: { $0.name == name }) else { throw ServerError.unknownApplication(name) }
        return [one]
    }
}
