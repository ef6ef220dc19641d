internal import Accounts
internal import Administration
internal import ArgumentParser
internal import Storage
internal import Tokens

/// `gatehouse keys`.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Manages the keys that sign access tokens.", subcommands: [Rotate.self])

    /// `gatehouse keys rotate`.
    ///
    /// Running servers sign with the new key at once. The old key stays published until its last token has expired.
    struct Rotate: ServerCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate", abstract: "Makes a new signing key for each application, or for one.")

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "Rotates the key of this application alone.")
        var application: String?

        func run(installed: InstalledProviders) async throws {
            try await options.withBackend(installed) { backend in
                for application in try await backend.applications(named: application) {
                    let entry = AuditEntry(.keysRotated, details: AdministrativeAct.ofThisHost.details)
                    try await backend.keys.rotate(application, recording: entry)
                    print("\(application.name) signs with a new key")
                }
            }
        }
    }
}
