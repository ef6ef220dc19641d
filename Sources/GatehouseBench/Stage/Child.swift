import Foundation

/// A program that doesn't outlive this process, however that ends.
///
/// A shell stands in between and reads a pipe that this process alone holds: when it closes, be it by SIGKILL, the
/// shell ends the program.
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

    private let shell: pid_t
    private let lifeline: Int32

    /// What it says goes to `output`; `pidFile` is told the number of the program itself.
    init(_ command: [String], output: Int32, pidFile: String = "") throws {
        let (reading, writing) = try Self.makePipe()
        defer { close(reading) }
        do {
            let arguments = ["/bin/sh", "-c", Self.script, "gatehouse-bench", pidFile] + command
            shell = try Self.spawn(arguments, input: reading, output: output)
            lifeline = writing
        } catch {
            close(writing)
            throw error
        }
    }

    /// Ends the program and waits for that.
    func stop() async throws {
        close(lifeline)
        _ = try await wait()
    }

    /// Everything that a program says until it ends, which it must do well.
    ///
    /// Shown, it is also said to whoever runs this process, as it comes.
    static func output(of command: [String], isShown: Bool = false) async throws -> String {
        let (reading, writing) = try makePipe()
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
        let status = try await child.wait()
        close(child.lifeline)
        let text = String(decoding: output, as: UTF8.self)
        guard status == 0 else {
            throw BenchError("\(command.joined(separator: " ")) ended with \(status): \(text.suffix(1000))")
        }
        return text
    }

    /// Waits until the program ends by itself.
    ///
    /// - Returns: its status, as a shell has it: 128 and the signal's number for one that was killed.
    private func wait() async throws -> Int32 {
        try await onOwnThread { [shell] in
            var status: Int32 = 0
            while waitpid(shell, &status, 0) < 0 {
                guard errno == EINTR else { throw BenchError("process \(shell) can't be waited for") }
            }
            let signal = status & 0x7F
            return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        }
    }
}

extension Child {
    /// No other child inherits either end.
    private static func makePipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
            throw BenchError("no pipe left")
        }
        return (ends[0], ends[1])
    }

    /// In a session of its own, as a service is, so that Ctrl-C reaches this process alone.
    ///
    /// And with no signal blocked, as threads of this process have them: unlike `Process`, which hands that on, and a
    /// shell can't undo it.
    private static func spawn(_ arguments: [String], input: Int32, output: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID, a GNU extension which Swift's Glibc module leaves out
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | newSession))

        let words = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var id = pid_t()
        let status = posix_spawn(&id, arguments[0], &actions, &attributes, words, environ)
        guard status == 0 else { throw BenchError("can't run \(arguments[0]): \(String(cString: strerror(status)))") }
        return id
    }
}
