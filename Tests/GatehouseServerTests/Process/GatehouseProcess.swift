import Foundation
import Synchronization
import ProviderKit
import Testing

/// A program run as a process of its own, mostly the built `gatehouse`; what it says is kept in files.
final class GatehouseProcess: Sendable {
    private let id: pid_t
    private let status = Mutex<Int32?>(nil)
    private let outputFile: URL
    private let errorFile: URL

    /// The executable is in the directory of the tests.
    static var executable: String {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "gatehouse").path
    }

    /// By hand, since Foundation takes a process for running as long as any of its descendants is.
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

    /// The exit status; a signal's number, negated, where that ended it.
    private var exitStatus: Int32? {
        status.withLock { status in
            var raw: Int32 = 0
            guard status == nil, waitpid(id, &raw, WNOHANG) == id else { return status }
            let number = raw & 0x7F
            status = number == 0 ? (raw >> 8) & 0xFF : -number
            return status
        }
    }

    /// To a process that has not been waited for, so that the number is still its own.
    func signal(_ number: Int32) {
        if isRunning { kill(id, number) }
    }

    /// The exit status; a signal's number, negated, where that ended it.
    func end(within limit: Duration = .seconds(60)) async throws -> Int32 {
        try await eventually("the process ends", within: limit) { !isRunning }
        return try #require(exitStatus)
    }

    /// Sends the signal and waits for the end.
    func end(by number: Int32) async throws -> Int32 {
        signal(number)
        return try await end()
    }

    /// The result of a program that ended by itself.
    struct Outcome {
        let status: Int32
        let output: String
        let errorLines: [String]
    }

    static func run(
        _ arguments: [String], program: String = executable, in directory: ProcessDirectory,
        environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await with(arguments, program: program, in: directory, environment: environment) { process in
            let status = try await process.end()
            return Outcome(status: status, output: process.output, errorLines: process.errorLines)
        }
    }

    /// Ends the process after the body, also if it throws.
    static func with<Result>(
        _ arguments: [String], program: String = executable, in directory: ProcessDirectory,
        environment: [String: String] = [:], _ body: (GatehouseProcess) async throws -> Result
    ) async throws -> Result {
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

/// A directory that other users may enter, as a PostgreSQL started by root must, gone after the test.
struct ProcessDirectory: Sendable {
    let url: URL

    static func with<Result>(
        named name: String = "home", _ body: (ProcessDirectory) async throws -> Result
    ) async throws -> Result {
        let files = FileManager.default
        let root = files.temporaryDirectory.appending(path: "gatehouse-process-\(UUID().uuidString.prefix(8))")
        let directory = ProcessDirectory(url: root.appending(path: name))
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o755]
        try files.createDirectory(at: directory.url, withIntermediateDirectories: true, attributes: attributes)
        let result: Result
        do {
            result = try await body(directory)
        } catch {
            try? await directory.remove(with: root)
            throw error
        }
        try await directory.remove(with: root)
        return result
    }

    /// Waits for a PostgreSQL whose owner was killed: it would go on writing.
    private func remove(with root: URL) async throws {
        try await eventually("nothing runs in \(url.path)") { processes().isEmpty }
        try FileManager.default.removeItem(at: root)
    }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func write(_ text: String, to name: String) throws {
        try text.write(toFile: path(name), atomically: false, encoding: .utf8)
    }

    /// The processes that work in the directory or were told of it.
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
