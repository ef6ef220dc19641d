import Foundation

/// A program that doesn't outlive this process, however that ends.
///
/// A shell stands in between and reads a pipe that this process alone holds: when it closes, be it by SIGKILL, the shell
/// ends the program.
final class Child: Sendable {
    private static let script = """
        exec 3<&0
        "$@" </dev/null 3<&- & child=$!
        { while read -r line; do :; done; kill -TERM $child; } <&3 2>/dev/null & watcher=$!
        [ -z "$PID_FILE" ] || echo $child >"$PID_FILE"
        wait $child; status=$?
        kill $watcher 2>/dev/null
        exit $status
        """

    private let shell = Process()
    private let lifeline = Pipe()

    /// `pidFile` is told the number of the program itself.
    init(_ command: [String], output: FileHandle, pidFile: String = "") throws {
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", Self.script, "gatehouse-bench"] + command
        shell.environment = ProcessInfo.processInfo.environment.merging(["PID_FILE": pidFile]) { $1 }
        shell.standardInput = lifeline
        shell.standardOutput = output
        shell.standardError = output
        try shell.run()
    }

    var isRunning: Bool { shell.isRunning }

    func stop() async throws {
        try lifeline.fileHandleForWriting.close()
        try await wait()
    }

    /// Until it has ended by itself.
    func wait() async throws {
        try await onOwnThread { [shell] in shell.waitUntilExit() }
    }

    /// Everything that a program says until it ends.
    static func output(of command: [String]) async throws -> String {
        let pipe = Pipe()
        let child = try Child(command, output: pipe.fileHandleForWriting)
        try pipe.fileHandleForWriting.close()
        let output = try await onOwnThread { try pipe.fileHandleForReading.readToEnd() ?? Data() }
        try await child.wait()
        return String(decoding: output, as: UTF8.self)
    }
}
