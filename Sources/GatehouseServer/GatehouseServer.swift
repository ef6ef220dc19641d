internal import ArgumentParser
// `stdout` is a variable of C.
@preconcurrency internal import Foundation
public import ProviderKit

/// A Gatehouse server with the providers of your choice.
///
/// `run` parses the command line. A command loads its configuration and opens a `Backend` (database, keys, stores).
/// `serve` and `dev` hand that to `RunningServer`, which runs all services until a signal ends them.
public enum GatehouseServer {
    /// Runs the command in the process's arguments, and ends the process.
    ///
    /// The exit status is 0, or 1 after an error message on standard error: one line, or one for each problem of a
    /// configuration file.
    public static func run(providers: [any Provider.Type]) async -> Never {
        // Writing to a closed connection or pipe must return an error instead of ending the process.
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
        end(with: 0)
    }

    /// Ends the process: prints an error and exits with 1, or prints a help text, which the argument parser also
    /// throws, and exits with 0.
    private static func end(with error: any Error) -> Never {
        guard RootCommand.exitCode(for: error) != .success else {
            print(RootCommand.fullMessage(for: error))
            end(with: 0)
        }
        FileHandle.standardError.write(Data("gatehouse: \(RootCommand.message(for: error))\n".utf8))
        end(with: 1)
    }

    /// Ends the process without the cleaning up that libraries have registered with `atexit`: OpenSSL's frees what a
    /// connection that is being opened on another thread still uses.
    ///
    /// The status is 1 in place of 0 if part of the output could not be written, for example because the disk is full.
    private static func end(with status: Int32) -> Never {
        let isWritten = fflush(stdout) == 0 && ferror(stdout) == 0
        guard isWritten || status != 0 else {
            FileHandle.standardError.write(Data("gatehouse: the output could not be written completely\n".utf8))
            _exit(1)
        }
        _exit(status)
    }
}
