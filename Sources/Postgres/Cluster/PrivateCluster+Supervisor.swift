import CLibPQ
import FoundationEssentials
import Glibc

extension PrivateCluster {
    /// A shell between this process and the server.
    ///
    /// Its standard input is a socket only this process holds: when that ends, even by SIGKILL, the shell reads the end
    /// of it and shuts the server down.
    struct Supervisor: Sendable {
        /// How long a server may take to write everything out.
        private static let stopLimit = Nanoseconds.seconds(15)
        private static let startLimit = Nanoseconds.seconds(60)

        // The inner shell sees the owner go; from then on it must live to say so. A server which ended by itself leaves
        // its files behind: somebody will want to know why.
        private static let script = """
            cd /
            exec 3<&0
            removing=$1 socket=$2
            shift 2
            "$@" </dev/null 3<&- & server=$!
            { while read -r line; do :; done; trap '' TERM; kill -INT $server; exit 0; } <&3 & watcher=$!
            wait $server; status=$?
            kill $watcher
            if wait $watcher && [ "$removing" ]; then rm -rf -- "$removing" "$socket"; fi
            exit $status
            """

        private let child: ChildProcess
        private let lifeline: Int32

        init(_ command: [String], log: String, removing: [String]) throws(PostgresError) {
            var ends: [Int32] = [-1, -1]
            // no other child of this process may inherit the socket
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .cluster("no pipe left: \(reason(errno))") }
            defer { close(ends[0]) }
            let removed = removing.isEmpty ? ["", ""] : removing
            lifeline = ends[1]
            do throws(PostgresError) {
                child = try ChildProcess(
                    ["/bin/sh", "-c", Self.script, "gatehouse-postgres"] + removed + command, input: ends[0], log: log)
            } catch {
                close(ends[1])
                throw error
            }
        }

        func awaitReadiness(url: String, log: String) throws(PostgresError) {
            let deadline = Nanoseconds.now + Self.startLimit
            while PQping(url) != PQPING_OK {
                guard child.isRunning else { throw .cluster("PostgreSQL did not start: \(lastLine(of: log))") }
                guard Nanoseconds.now < deadline else { throw .cluster("PostgreSQL does not accept connections") }
                usleep(3_000)
            }
        }

        func stop() {
            close(lifeline)
            let deadline = Nanoseconds.now + Self.stopLimit
            while child.isRunning, Nanoseconds.now < deadline { usleep(2_000) }
        }

        /// The shell and the server, without a word to either.
        func kill() {
            child.killGroup()
            close(lifeline)
        }
    }
}

/// A program started in a session of its own, so that Ctrl-C does not reach it.
struct ChildProcess: Sendable {
    private let id: pid_t

    init(_ command: [String], input: Int32? = nil, log: String) throws(PostgresError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)

        // a server that ignores signals hands that on to its children, and a shell cannot take it back
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID, a GNU extension which Swift's Glibc module leaves out
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | newSession
        posix_spawnattr_setflags(&attributes, Int16(flags))

        let arguments = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var id = pid_t()
        let status = posix_spawn(&id, command[0], &actions, &attributes, arguments, environ)
        guard status == 0 else { throw .cluster("cannot run \(command[0]): \(reason(status))") }
        self.id = id
    }

    /// Blocks until the program ends; its exit status, as `waitpid` gives it.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return status
    }

    var isRunning: Bool {
        waitpid(id, nil, WNOHANG) == 0
    }

    func killGroup() {
        kill(-id, SIGKILL)
        _ = wait()
    }
}

/// What a program said last, for an error of one line.
func lastLine(of log: String) -> String {
    let text = FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let lines = text.split(separator: "\n")
    return String(lines.last { $0.contains("FATAL") || $0.contains("error:") } ?? lines.last ?? "no reason given")
}

func reason(_ error: Int32) -> String {
    String(cString: strerror(error))
}
