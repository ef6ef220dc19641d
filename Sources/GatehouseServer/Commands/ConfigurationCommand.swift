internal import ArgumentParser
internal import HTTPAPI

/// `gatehouse config`.
struct ConfigurationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Checks the configuration.", subcommands: [Check.self, Difference.self])

    /// `gatehouse config check`: reads the file as `serve` does.
    struct Check: ServerCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Lists all problems of the configuration with their paths and lines.")

        @OptionGroup var options: ConfigurationOptions

        /// The pages of the OpenID provider, which `provider: hosted` opens, and what they refer to.
        private static let pages = [
            "/signin*", "/signup", "/account*", "/qr", "/device", "/oauth/*", "/verify-email", "/reset-password",
            "/review", "/invitation", "/recover", "/pages/logo", "/.well-known/*",
        ]

        func run(installed: InstalledProviders) throws {
            let (path, configuration) = try options.load(installed: installed)
            for warning in configuration.warnings { print("warning: \(warning)") }
            let names = configuration.applications.map(\.name).joined(separator: ", ")
            print("\(path) is fine: \(configuration.applications.count) application(s): \(names)")
            for application in configuration.applications { printPaths(of: application) }
        }

        /// Prints the paths that a proxy before the back ends of a dialect's apps has to pass on.
        private func printPaths(of application: Configuration.Application) {
            for (dialect, paths) in HTTPAPI.proxiedPaths(for: application.dialects) {
                let pages = application.dialects.usesOwnPages(in: dialect) ? Self.pages : []
                print("\(application.name), \(dialect): pass on \((paths + pages).joined(separator: " "))")
            }
        }
    }
}

/// `gatehouse privacy-record`: prints the record of processing activities without using the database.
struct PrivacyRecordCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "privacy-record",
        abstract: "Prints a record of processing activities (GDPR, article 30), in Markdown, from the configuration.")

    @OptionGroup var options: ConfigurationOptions

    func run(installed: InstalledProviders) throws {
        let (_, configuration) = try options.load(installed: installed)
        print(PrivacyRecord(configuration: configuration).markdown, terminator: "")
    }
}
