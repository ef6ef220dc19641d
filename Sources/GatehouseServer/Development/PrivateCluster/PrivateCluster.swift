internal import Foundation
internal import Postgres
internal import Synchronization

/// A PostgreSQL server for development and tests that this process starts and owns.
///
/// Clients connect through a socket in a private directory. The server stops when this process ends, even by SIGKILL: a
/// supervising shell reads from a socket whose other end only this process holds, and shuts the server down at the end
/// of the stream.
package final class PrivateCluster: Sendable {
    package struct Options: Sendable {
        /// Whether commits survive a crash; tests turn this off for speed.
        package var durable = true
        /// Whether the whole directory is removed when this process stops the cluster or ends.
        package var ephemeral = false
        /// Further settings, as in `postgresql.conf`.
        package var settings: [String: String] = [:]

        package init() {}
    }

    /// The shell that supervises the server, and this process's end of the socket that the shell reads.
    private struct Supervisor {
        let shell: ChildProcess
        let lifeline: Int32
    }

    private static let role = "gatehouse"
    private static let startLimit = Duration.seconds(60)
    /// How long the server may take to write all data to disk at shutdown.
    private static let stopLimit = Duration.seconds(15)

    // The inner shell (`watcher`) detects the end of the stream. From then on it ignores SIGTERM, so that its exit
    // status reports the detection. If the server ended by itself, its files are kept, because its log has the reason.
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

    let paths: Paths
    private let options: Options
    private let supervisor = Mutex<Supervisor?>(nil)

    /// Creates a cluster in folders inside `directory`, which is created if it is missing.
    package init(directory: String, options: Options = Options()) {
        paths = Paths(directory: directory)
        self.options = options
    }

    /// Starts the server and returns once it accepts connections; the first start creates the cluster.
    package func start() async throws {
        try await onOwnThread { [self] in
            let programs = try Self.programs(["initdb", "postgres"])
            let user = try User.owning(paths.data)
            try paths.make(for: user)
            if !FileManager.default.fileExists(atPath: paths.data) { try initialise(with: programs[0], as: user) }
            try paths.releaseLocks()
            let started = try launch(programs[1], as: user)
            supervisor.withLock { $0 = started }
            do {
                try awaitReadiness(of: started.shell)
            } catch {
                takeSupervisor().map(Self.stop)
                throw error
            }
        }
    }

    /// Ends the server's sessions, and returns once the server has stopped.
    package func stop() async {
        guard let running = takeSupervisor() else { return }
        _ = try? await onOwnThread { [paths] in
            Self.stop(running)
            // The socket's folder is empty now; it may be outside the cluster's directory.
            rmdir(paths.socket)
        }
    }

    /// Kills all the server's processes at once, like a power failure; the next `start` recovers the cluster.
    package func crash() async {
        guard let running = takeSupervisor() else { return }
        _ = try? await onOwnThread { [paths] in
            running.shell.killGroup()
            close(running.lifeline)
            paths.killUsers()
        }
    }

    /// A connection URI for the database `postgres`, which always exists.
    package var url: String { url(database: "postgres") }

    package func url(database: String) -> String {
        "postgresql:///\(percentEncoded(database))?host=\(percentEncoded(paths.socket))&user=\(Self.role)"
    }

    /// Creates a database, as a copy of `template` if one is given; the template must have no connections.
    package func createDatabase(_ name: String, template: String? = nil) async throws {
        // Copying files takes half the time of copying pages through the write-ahead log.
        let copy = template.map { " TEMPLATE \(quotedName($0)) STRATEGY FILE_COPY" } ?? ""
        let sql = "CREATE DATABASE \(quotedName(name))\(copy)"
        try await onOwnThread { [url] in try Database.runAlone(sql, url: url) }
    }

    /// Ends a database's sessions and removes it.
    package func dropDatabase(_ name: String) async throws {
        let sql = "DROP DATABASE \(quotedName(name)) WITH (FORCE)"
        try await onOwnThread { [url] in try Database.runAlone(sql, url: url) }
    }

    private func launch(_ program: String, as user: User) throws -> Supervisor {
        let removed = options.ephemeral ? [paths.directory, paths.socket] : ["", ""]
        let server = user.command + [program, "-D", paths.data] + arguments
        let ends = try ChildProcess.socketPair()
        defer { close(ends.child) }
        do {
            let shell = try paths.withLog { log in
                try ChildProcess(
                    ["/bin/sh", "-c", Self.script, "gatehouse-postgres"] + removed + server, input: ends.child,
                    output: log)
            }
            return Supervisor(shell: shell, lifeline: ends.own)
        } catch {
            close(ends.own)
            throw error
        }
    }

    private func awaitReadiness(of shell: ChildProcess) throws {
        let deadline = ContinuousClock.now + Self.startLimit
        while !Database.isReady(url: url) {
            guard shell.isRunning else { throw failure("PostgreSQL did not start: \(paths.lastLogLine)") }
            guard .now < deadline else { throw failure("PostgreSQL does not accept connections") }
            usleep(3_000)
        }
    }

    private static func stop(_ running: Supervisor) {
        close(running.lifeline)
        let deadline = ContinuousClock.now + stopLimit
        while running.shell.isRunning, .now < deadline { usleep(2_000) }
    }

    private func takeSupervisor() -> Supervisor? {
        supervisor.withLock { supervisor in
            defer { supervisor = nil }
            return supervisor
        }
    }

    /// Runs `initdb` in a draft directory and then moves the directory into place, so that an interrupted attempt
    /// leaves no incomplete cluster.
    private func initialise(with initdb: String, as user: User) throws {
        let draft = try paths.makeDraft(for: user)
        // `trust` is safe, because only the owner can enter the socket's directory.
        let command = [
            initdb, "-D", draft, "--username", Self.role, "--auth", "trust", "--encoding", "UTF8",
            "--no-locale", "--no-instructions",
        ]
        let child = try paths.withLog { log in
            try ChildProcess(user.command + command + (options.durable ? [] : ["--no-sync"]), output: log)
        }
        guard child.wait() == 0 else { throw failure("initdb failed: \(paths.lastLogLine)") }
        try paths.moveDraft(draft)
    }

    private var arguments: [String] {
        var settings = [
            "listen_addresses": "", "unix_socket_directories": quotedName(paths.socket), "port": "\(Paths.port)",
        ]
        if !options.durable {
            for name in ["fsync", "synchronous_commit", "full_page_writes"] { settings[name] = "off" }
        }
        settings.merge(options.settings) { _, given in given }
        return settings.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
    }
}

extension PrivateCluster {
    static func failure(_ text: String) -> ServerError { .development("private database: \(text)") }
    private func failure(_ text: String) -> ServerError { Self.failure(text) }
}

/// A double-quoted identifier for SQL and for the server's settings.
private func quotedName(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

private func percentEncoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~/"))) ?? text
}
