import Foundation
import GatehouseServer

/// A program that is stopped when this process ends, even by SIGKILL.
///
/// The program is started by a shell, which reads a socket whose other end only this process holds. When that end
/// closes, the shell stops the program.
struct Child: Sendable {
    private static let script = """
        exec 3<&0
        pid_file=$1
        shift
        "$@" </dev/null 3<&- & child=$!
        { while read -r line; do :; done; kill -TERM $child; } <&3 >/dev/null 2>&1 & watcher=$!
        [ -z "$pid_file" ] || echo $child >"$pid_file"
        wait $child; status=$?
        kill $watcher 2>/dev/null
        exit $status
        """

    private let shell: ChildProcess
    private let lifeline: Int32

    /// Starts a program that writes to `output`, and writes its process id to `pidFile`.
    init(_ command: [String], output: Int32, pidFile: String = "") throws {
        let ends = try ChildProcess.socketPair()
        defer { close(ends.child) }
        do {
            let arguments = ["/bin/sh", "-c", Self.script, "gatehouse-bench", pidFile] + command
            shell = try ChildProcess(arguments, input: ends.child, output: output)
            lifeline = ends.own
        } catch {
            close(ends.own)
            throw error
        }
    }

    /// Stops the program and waits until it has ended.
    func stop() async throws {
        close(lifeline)
        _ = try await onOwnThread { [shell] in shell.wait() }
    }

    /// Runs a program and returns its output; with `isShown`, also copies the output to standard error as it arrives.
    ///
    /// - Throws: if the exit status is not 0.
    static func output(of command: [String], isShown: Bool = false) async throws -> String {
        let (writing, reading) = try ChildProcess.socketPair()
        let child = try Child(command, output: writing)
        close(writing)
        let output = try await onOwnThread {
            let reader = FileHandle(fileDescriptor: reading, closeOnDealloc: true)
            var output = Data()
            while case let some = reader.availableData, !some.isEmpty {
                if isShown { FileHandle.standardError.write(some) }
                output += some
            }
            return output
        }
        let status = try await onOwnThread { child.shell.wait() }
        close(child.lifeline)
        let text = String(decoding: output, as: UTF8.self)
        guard status == 0 else {
            throw BenchError("\(command.joined(separator: " ")) ended with \(status): \(text.suffix(1000))")
        }
        return text
    }
}
