internal import ArgumentParser

/// `gatehouse config`.
struct ConfigurationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Looks at the configuration.", subcommands: [Check.self])

    /// `gatehouse config check`: reads the file as `serve` would, and names everything that is wrong with it.
    struct Check: ServerCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Checks the configuration and names each fault with its path and line.")

        @OptionGroup var options: ConfigurationOptions

        func run(installed: InstalledProviders) async throws {
            let (path, configuration) = try options.load(installed: installed)
            let names = configuration.applications.map(\.name).joined(separator: ", ")
            print("\(path) is fine: \(configuration.applications.count) application(s): \(names)")
        }
    }
}
