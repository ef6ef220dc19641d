internal import ArgumentParser
internal import Foundation
internal import Logging

/// `gatehouse serve`: brings the schema up to date and serves until it is told to stop.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serves the configured applications.")

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        try await SessionPriority.lowered { try await serve() }
    }

    private func serve() async throws {
        let (path, configuration) = try options.load()
        let logger = Logger(label: "gatehouse") { label in JSONLogHandler(label: label) }
        try await Backend.with(configuration, logger: logger, schema: .migrated) { backend in
            let server = try await RunningServer(backend, inbox: nil)
            let reload = ConfigurationReload(
                of: configuration, path: path, environment: ProcessInfo.processInfo.environment,
                installed: Installation.providers, logger: logger, takeOver: server.take(over:sections:))
            let host = configuration.server.host
            try await server.run(reload: ConfigurationWatcher(reload)) { port in
                logger.notice("serving", metadata: ["host": "\(host)", "port": "\(port)"])
            }
            logger.notice("stopped")
        }
    }
}
