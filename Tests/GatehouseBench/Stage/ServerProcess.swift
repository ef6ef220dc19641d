import Foundation

/// An HTTP server in its own process, on a free port that is read from its log.
struct ServerProcess: Sendable {
    let id: pid_t
    private let child: Child
    private let port: Int

    private static let patience = Duration.seconds(30)

    static func start(_ command: [String], log: String) async throws -> ServerProcess {
        guard FileManager.default.createFile(atPath: log, contents: nil), let output = FileHandle(forWritingAtPath: log)
        else { throw BenchError("can't write \(log)") }
        // A service manager starts each service in a session of its own, too, and Linux shares processors by session.
        let child = try Child(
            ["/usr/bin/setsid"] + command, output: output.fileDescriptor, pidFile: log + ".pid")
        let deadline = ContinuousClock.now + patience
        while .now < deadline {
            if let port = text(of: log).number(after: #""port":""#), let id = pid_t(text(of: log + ".pid")) {
                return ServerProcess(id: id, child: child, port: Int(port))
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        try await child.stop()
        throw BenchError("\(command.joined(separator: " ")) did not start: \(text(of: log))")
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    func stop() async throws {
        try await child.stop()
    }

    private static func text(of file: String) -> String {
        let text = try? String(contentsOfFile: file, encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }
}
