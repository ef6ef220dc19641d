internal import ArgumentParser
internal import Delivery
internal import Foundation
internal import Logging
internal import Postgres

/// `gatehouse dev`: a server that needs no configuration, with its own PostgreSQL in a directory.
struct DevelopmentCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev", abstract: "Runs a demo application on its own PostgreSQL, with an inbox instead of mail.")

    @Option(help: "The port on 127.0.0.1.")
    var port = 8080
    @Option(help: "The directory of the database and the keys.")
    var directory = ".gatehouse"
    @Flag(help: "Logs each request.")
    var verbose = false

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes a number from 0 to 65535") }
    }

    func run(installed: InstalledProviders) async throws {
        let level: Logger.Level = verbose ? .debug : .notice
        let logger = Logger(label: "gatehouse") { label in LineLogHandler(.readable, label: label, level: level) }
        let home = try await DevelopmentHome(directory: directory)
        let cluster = PrivateCluster(directory: home.databaseDirectory)
        try await cluster.start()
        do {
            try await SessionPriority.lowered {
                try await serve(home: home, databaseURL: cluster.url, installed: installed, logger: logger)
            }
        } catch {
            await cluster.stop()
            throw error
        }
        await cluster.stop()
    }

    private func serve(
        home: DevelopmentHome, databaseURL: String, installed: InstalledProviders, logger: Logger
    ) async throws {
        let configuration = try home.configuration(port: port, databaseURL: databaseURL, installed: installed)
        try await Backend.with(configuration, logger: logger, schema: .migrated) { backend in
            let server = try await RunningServer(backend, installed: installed, inbox: DevelopmentInbox())
            try await server.run(reload: nil) { port in
                let banner = Banner(port: port, directory: home.directory, tokenKey: home.tokenKey.path)
                FileHandle.standardOutput.write(Data(banner.text.utf8))
            }
        }
    }
}
