internal import ArgumentParser
internal import Foundation
internal import Logging
internal import Postgres

/// `gatehouse serve`: migrates the schema, then serves until a signal arrives.
struct ServeCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serves the configured applications.")

    @OptionGroup var options: ConfigurationOptions

    func run(installed: InstalledProviders) async throws {
        FileDescriptors.raiseLimit()
        // Many programs reload their configuration on SIGHUP. This one watches the file, so the signal is ignored
        // instead of ending the server.
        signal(SIGHUP, SIG_IGN)
        let (path, configuration) = try options.load(installed: installed)
        let logger = Logger(label: "gatehouse") { label in LineLogHandler(.json, label: label) }
        logger.note(configuration.warnings)
        try await Backend.with(configuration, logger: logger, schema: .migrated) { backend in
            let server = try await RunningServer(backend, installed: installed, inbox: nil)
            let reload = ConfigurationReload(
                of: configuration, path: path, environment: ProcessInfo.processInfo.environment,
                installed: installed, logger: logger, live: server.live, takeOver: server.take(over:sections:))
            let host = configuration.server.host
            try await server.run(reload: ConfigurationWatcher(reload: reload)) { port in
                logger.notice("serving", metadata: ["host": "\(host)", "port": "\(port)"])
            }
            logger.notice("stopped")
        }
    }
}
