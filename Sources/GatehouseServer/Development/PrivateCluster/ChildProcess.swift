internal import Foundation

/// A program that runs in its own session, so that Ctrl-C does not reach it.
package struct ChildProcess: Sendable {
    private let id: pid_t

    /// Standard output and standard error both go to `output`; without an `input`, the program reads `/dev/null`.
    ///
    /// The program starts with no signal ignored or blocked. `Process` would let it inherit ignored and blocked signals
    /// from this process, which a shell cannot undo.
    package init(_ command: [String], input: Int32? = nil, output: Int32) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID, a GNU extension that Swift's Glibc module leaves out
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | newSession))

        let arguments = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var id = pid_t()
        let status = posix_spawn(&id, command[0], &actions, &attributes, arguments, environ)
        guard status == 0 else { throw ServerError.development("cannot run \(command[0]): \(reason(status))") }
        self.id = id
    }

    /// Blocks until the program ends.
    /// - Returns: its exit status as a shell reports it: 128 and the signal's number if a signal ended it.
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    var isRunning: Bool { waitpid(id, nil, WNOHANG) == 0 }

    /// Kills the program and everything that it started in its session.
    func killGroup() {
        kill(-id, SIGKILL)
        _ = wait()
    }

    /// Creates two connected sockets that no child process inherits.
    ///
    /// If a child is given one end, it reads the end of the stream as soon as this process closes the other end or
    /// dies.
    package static func socketPair() throws -> (child: Int32, own: Int32) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw ServerError.development("no socket left: \(reason(errno))")
        }
        return (ends[0], ends[1])
    }
}

/// The message for an error number.
func reason(_ error: Int32) -> String { String(cString: strerror(error)) }

/// Runs blocking work on its own thread, because the cooperative pool must never block.
package func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
