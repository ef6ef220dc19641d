internal import ArgumentParser
internal import Foundation
public import ProviderKit

/// A whole Gatehouse, to be started with the providers of your choice.
///
/// `run` reads the command line; a command loads its configuration, opens a `Backend` (database, keys, stores), and
/// either does its one thing or, for `serve` and `dev`, hands it to `RunningServer`, which wires the services together
/// and runs them until a signal ends them in reverse order.
public enum GatehouseServer {
    /// Runs the command that the process was started with and ends the process: with status 0, or with 1 after one
    /// clear line on standard error.
    public static func run(providers: [any Provider.Type]) async -> Never {
        // A client or a log reader that goes away is an error of that write, not the end of the server.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try RootCommand.parseAsRoot()
            if let command = command as? any ServerCommand {
                try await command.run(installed: InstalledProviders(providers, ports: UpstreamPorts()))
            } else {
                try command.run()
            }
        } catch {
            end(with: error)
        }
        exit(0)
    }

    /// The argument parser throws requests for help, which are no failures.
    private static func end(with error: any Error) -> Never {
        guard RootCommand.exitCode(for: error) != .success else {
            print(RootCommand.fullMessage(for: error))
            exit(0)
        }
        FileHandle.standardError.write(Data("gatehouse: \(RootCommand.message(for: error))\n".utf8))
        exit(1)
    }
}
