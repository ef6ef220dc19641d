import Foundation

extension Configuration {
    /// Reads and checks a file, and throws everything that is wrong with it, at once.
    ///
    /// Problems name the file by `path`. Of a configuration in force, `running`, the sections that aren't reloadable
    /// are kept as they are.
    package static func load(
        path: String, environment: [String: String], installed: InstalledProviders, replacing running: Self? = nil
    ) throws(ConfigurationError) -> Configuration {
        let source = Source(path: path, stamp: FileStamp(of: path))
        let yaml: String
        do {
            yaml = try BoundedFile.text(at: path)
        } catch {
            throw ConfigurationError([.init(file: path, line: nil, path: "", reason: error.reason)])
        }
        var configuration = try parse(
            yaml, file: path, environment: environment, installed: installed, replacing: running)
        configuration.sources.insert(source, at: 0)
        return configuration
    }

    /// The same for a text; `file` is what problems name it by and what relative paths in it are relative to.
    package static func parse(
        _ yaml: String, file: String, environment: [String: String], installed: InstalledProviders,
        replacing running: Self? = nil
    ) throws(ConfigurationError) -> Configuration {
        let directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        let reading = ConfigurationReading(file: file, directory: directory, environment: environment)
        var configuration: Configuration?
        if let root = ConfigurationDocument.parse(yaml, reporting: reading) {
            let located = Located(node: root, place: Place(line: root.line, path: ""), reading: reading)
            configuration = Expectation.configuration(installed: installed, replacing: running).read(located)
            configuration?.fingerprints = fingerprints(of: root, secretFiles: reading.secretFiles)
            configuration?.sources = reading.secretFiles.map(\.source)
        }
        guard let configuration, reading.error == nil else {
            throw reading.error ?? ConfigurationError([])
        }
        return configuration
    }
}

extension Expectation<Configuration> {
    fileprivate static func configuration(
        installed: InstalledProviders, replacing running: Configuration?
    ) -> Self {
        .table { table in
            let server = table.section("server", .server)
            let database = table.section("database", .database)
            let secrets = table.section("secrets", .secrets)
            let network = table.section("network", .network)
            let passwords = table.section("passwords", .passwords)
            let rateLimits = table.read("rateLimits", .rateLimits, default: .standard)
            let delivery = table.section("delivery", .delivery)
            let webhooks = table.read("webhooks", .webhooks, default: [])
            let defaultApplication = table.optional("defaultApplication", .text)
            let applications = applications(
                table, installed: installed, publicURL: (running?.server ?? server)?.publicURL ?? "",
                allowsPrivateHosts: (running?.network ?? network)?.allowPrivateHosts == true,
                defaultApplication: running.map(\.defaultApplication) ?? defaultApplication)
            check(defaultApplication, running: running, isAmong: applications, table)
            guard let server, let database, let secrets, let network, let passwords, let delivery else { return nil }
            return Configuration(
                server: running?.server ?? server, database: running?.database ?? database,
                secrets: running?.secrets ?? secrets, network: running?.network ?? network,
                passwords: running?.passwords ?? passwords, rateLimits: rateLimits, delivery: delivery,
                webhooks: webhooks, defaultApplication: running.map(\.defaultApplication) ?? defaultApplication,
                applications: applications)
        }
    }

    private static func applications(
        _ table: Table, installed: InstalledProviders, publicURL: String, allowsPrivateHosts: Bool,
        defaultApplication: String?
    ) -> [Configuration.Application] {
        var defaults = ApplicationReader.Defaults()
        table.optional("deletion", .deletion(defaults)).map { defaults = $0 }
        table.optional("anonymous", .anonymous(defaults)).map { defaults = $0 }
        let reader = ApplicationReader(
            publicURL: publicURL, allowsPrivateHosts: allowsPrivateHosts, defaultApplication: defaultApplication,
            defaults: defaults, installed: installed)
        return table.required("applications", Expectation<[Configuration.Application]>(reader.read)) ?? []
    }

    private static func check(
        _ defaultApplication: String?, running: Configuration?, isAmong applications: [Configuration.Application],
        _ table: Table
    ) {
        let key = "defaultApplication"
        let names = Set(table.value("applications")?.keys ?? [])
        if let defaultApplication, !names.contains(defaultApplication) {
            table.report("no such application is configured", at: key)
        } else if let current = running?.defaultApplication, !names.contains(current) {
            table.report("\(current) is the running server's default; removing it needs a restart", at: key)
        }
    }
}
