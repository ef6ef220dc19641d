import FoundationEssentials
import Glibc
import Synchronization

/// A PostgreSQL of this process's own, for development and tests: reached through a socket in a directory nobody else
/// may enter, and stopped when the process ends, however it ends.
package final class PrivateCluster: Sendable {
    package struct Options: Sendable {
        /// Commits survive a crash.
        ///
        /// Off is faster, and fit for tests alone.
        package var durable = true
        /// The whole directory is removed when this process stops the cluster or ends.
        package var ephemeral = false
        /// Further settings, as in `postgresql.conf`.
        package var settings: [String: String] = [:]

        package init() {}
    }

    private static let role = "gatehouse"

    let paths: Paths
    private let options: Options
    private let supervisor = Mutex<Supervisor?>(nil)

    /// `directory` is made if need be; the cluster lives in folders of its own inside it.
    package init(directory: String, options: Options = Options()) {
        paths = Paths(directory: directory)
        self.options = options
    }

    /// Creates the cluster the first time; returns once it accepts connections.
    package func start() async throws(PostgresError) {
        try await OwnThread.value { [self] () throws(PostgresError) in
            let binaries = try Binaries.find()
            let user = try User.toRun(owning: paths.data)
            try paths.make(for: user)
            if !FileManager.default.fileExists(atPath: paths.data) { try initialise(binaries, as: user) }
            try paths.releaseLocks()
            let started = try Supervisor(
                user.command + [binaries.postgres, "-D", paths.data] + arguments, log: paths.log,
                removing: options.ephemeral ? [paths.directory, paths.socket] : [])
            supervisor.withLock { $0 = started }
            do throws(PostgresError) {
                try started.awaitReadiness(url: url, log: paths.log)
            } catch {
                takeSupervisor()?.stop()
                throw error
            }
        }
    }

    /// Ends the server's sessions, stops it and waits until it has gone.
    package func stop() async {
        guard let running = takeSupervisor() else { return }
        let paths = paths
        _ = try? await OwnThread.value { () throws(PostgresError) in
            running.stop()
            // empty now; it may lie outside the cluster's directory
            rmdir(paths.socket)
        }
    }

    /// Kills all the server's processes at once, as a power failure would; `start` recovers it.
    package func crash() async {
        guard let running = takeSupervisor() else { return }
        let paths = paths
        _ = try? await OwnThread.value { () throws(PostgresError) in
            running.kill()
            paths.killUsers()
        }
    }

    /// A connection URI for the database `postgres`, which is always there.
    package var url: String { url(database: "postgres") }

    package func url(database: String) -> String {
        "postgresql:///\(percentEncoded(database))?host=\(percentEncoded(paths.socket))&user=\(Self.role)"
    }

    /// Creates a database, as a copy of `template` if one is given; nobody may be connected to that.
    package func createDatabase(_ name: String, template: String? = nil) async throws(PostgresError) {
        let copy = template.map { " TEMPLATE \(quotedName($0))" } ?? ""
        let sql = "CREATE DATABASE \(quotedName(name))\(copy)"
        let url = url
        try await OwnThread.value { () throws(PostgresError) in try Link.run(sql, url: url) }
    }

    private func takeSupervisor() -> Supervisor? {
        supervisor.withLock { supervisor in
            defer { supervisor = nil }
            return supervisor
        }
    }

    /// Built aside and moved into place when complete, so that an interrupted attempt leaves nothing half made.
    private func initialise(_ binaries: Binaries, as user: User) throws(PostgresError) {
        let draft = try paths.makeDraft(for: user)
        // whoever can reach the socket is trusted: its directory keeps everybody else out
        let command = [
            binaries.initdb, "-D", draft, "--username", Self.role, "--auth", "trust", "--encoding", "UTF8",
            "--no-locale",
            "--no-instructions",
        ]
        let child = try ChildProcess(user.command + command + (options.durable ? [] : ["--no-sync"]), log: paths.log)
        guard child.wait() == 0 else { throw .cluster("initdb failed: \(lastLine(of: paths.log))") }
        try paths.moveDraft(draft)
    }

    private var arguments: [String] {
        var settings = [
            "listen_addresses": "",
            "unix_socket_directories": quotedName(paths.socket),
            "port": "\(Paths.port)",
        ]
        if !options.durable {
            for name in ["fsync", "synchronous_commit", "full_page_writes"] { settings[name] = "off" }
        }
        settings.merge(options.settings) { _, given in given }
        return settings.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
    }
}

/// A double-quoted identifier, in SQL as in the server's settings.
private func quotedName(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
}

private func percentEncoded(_ text: String) -> String {
    text.utf8.map { byte in
        let character = Character(UnicodeScalar(byte))
        let isPlain = character.isASCII && (character.isLetter || character.isNumber || "-._~/".contains(character))
        return isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
}
