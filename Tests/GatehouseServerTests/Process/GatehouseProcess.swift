import Foundation
import Synchronization
import ProviderKit
import Testing

/// A separate process, mostly of the built `gatehouse`, whose output is kept in files.
final class GatehouseProcess: Sendable {
    let id: pid_t
    private let status = Mutex<Int32?>(nil)
    private let outputFile: URL
    private let errorFile: URL

    /// The path of the built executable, which is in the directory of the tests.
    static var executable: String {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "gatehouse").path
    }

    /// Starts the process without Foundation, which reports a process as running while any of its descendants is
    /// running.
    init(
        _ arguments: [String], program: String = executable, in directory: ProcessDirectory,
        environment: [String: String] = [:]
    ) throws {
        let name = UUID().uuidString
        outputFile = directory.url.appending(path: "\(name).out")
        errorFile = directory.url.appending(path: "\(name).err")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        for (descriptor, file) in [(STDOUT_FILENO, outputFile), (STDERR_FILENO, errorFile)] {
            posix_spawn_file_actions_addopen(&actions, descriptor, file.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
        let start = ["/bin/sh", "-c", #"cd "$1" && shift && exec "$@""#, "sh", directory.url.path, program]
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let argv = (start + arguments).map { strdup($0) } + [nil]
        let envp = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var id = pid_t()
        try #require(posix_spawn(&id, start[0], &actions, nil, argv, envp) == 0)
        self.id = id
    }

    var output: String { (try? String(contentsOf: outputFile, encoding: .utf8)) ?? "" }
    var errors: String { (try? String(contentsOf: errorFile, encoding: .utf8)) ?? "" }
    var errorLines: [String] {
        errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
    var isRunning: Bool { exitStatus == nil }

    /// The exit status, or the negated number of the signal that ended the process; `nil` while it is running.
    private var exitStatus: Int32? {
        status.withLock { status in
            var raw: Int32 = 0
            guard status == nil, waitpid(id, &raw, WNOHANG) == id else { return status }
            let number = raw & 0x7F
            status = number == 0 ? (raw >> 8) & 0xFF : -number
            return status
        }
    }

    /// Sends a signal, unless the process has been waited for and its id may belong to another process.
    func signal(_ number: Int32) {
        if isRunning { kill(id, number) }
    }

    /// Waits for the end and returns the exit status, or the negated number of the signal that ended the process.
    func end(within limit: Duration = .seconds(60)) async throws -> Int32 {
        try await eventually("the process ends", within: limit) { !isRunning }
        return try #require(exitStatus)
    }

    /// Sends the signal and waits for the process to end.
    func end(by number: Int32) async throws -> Int32 {
        signal(number)
        return try await end()
    }

    /// Runs a program until it exits and returns its result.
    struct Outcome {
        let status: Int32
        let output: String
        /// The lines of standard error that are no log entries.
        let errorLines: [String]
    }

    static func run(
        _ arguments: [String], program: String = executable, in directory: ProcessDirectory,
        environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await with(arguments, program: program, in: directory, environment: environment) { process in
            let status = try await process.end()
            let lines = process.errorLines.filter { !$0.hasPrefix("{") }
            return Outcome(status: status, output: process.output, errorLines: lines)
        }
    }

    /// Runs the body and ends the process afterwards, even if the body throws.
    static func with<Output>(
        _ arguments: [String], program: String = executable, in directory: ProcessDirectory,
        environment: [String: String] = [:], _ body: (GatehouseProcess) async throws -> Output
    ) async throws -> Output {
        let process = try GatehouseProcess(arguments, program: program, in: directory, environment: environment)
        do {
            let result = try await body(process)
            if process.isRunning { _ = try await process.end(by: SIGKILL) }
            return result
        } catch {
            if process.isRunning { _ = try await process.end(by: SIGKILL) }
            throw error
        }
    }
}

/// A temporary directory that other users can enter, because PostgreSQL started by root runs as another user.
struct ProcessDirectory: Sendable {
    let url: URL

    static func with<Output>(
        named name: String = "home", _ body: (ProcessDirectory) async throws -> Output
    ) async throws -> Output {
        let files = FileManager.default
        let root = files.temporaryDirectory.appending(path: "gatehouse-process-\(UUID().uuidString.prefix(8))")
        let directory = ProcessDirectory(url: root.appending(path: name))
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o755]
        try files.createDirectory(at: directory.url, withIntermediateDirectories: true, attributes: attributes)
        let result: Output
        do {
            result = try await body(directory)
        } catch {
            try? await directory.remove(with: root)
            throw error
        }
        try await directory.remove(with: root)
        return result
    }

    /// Waits until a PostgreSQL whose parent was killed has stopped, because it would continue to write.
    private func remove(with root: URL) async throws {
        try await eventually("nothing runs in \(url.path)") { processes().isEmpty }
        try FileManager.default.removeItem(at: root)
    }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func write(_ text: String, to name: String) throws {
        try text.write(toFile: path(name), atomically: false, encoding: .utf8)
    }

    /// Returns the processes whose working directory is this one or whose arguments contain its path.
    func processes() -> [String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return numbers.filter { $0 != getpid() }.compactMap { number in
            let place = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(number)/cwd")) ?? ""
            let bytes = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()
            let command = String(decoding: bytes.map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self)
            return place.hasPrefix(url.path) || command.contains(url.path) ? "\(number) \(command)" : nil
        }
    }
}
