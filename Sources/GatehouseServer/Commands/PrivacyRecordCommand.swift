internal import ArgumentParser

/// `gatehouse privacy-record`: needs the file alone, no database.
struct PrivacyRecordCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "privacy-record",
        abstract: "Prints a record of processing activities (GDPR, article 30), in Markdown, from the configuration.")

    @OptionGroup var options: ConfigurationOptions

    func run(installed: InstalledProviders) async throws {
        let (_, configuration) = try options.load(installed: installed)
        print(PrivacyRecord(configuration).markdown, terminator: "")
    }
}
