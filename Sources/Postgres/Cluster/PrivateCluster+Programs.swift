import FoundationEssentials
import Glibc

extension PrivateCluster {
    /// The server's own programs.
    struct Binaries {
        let directory: String

        var initdb: String { directory + "/initdb" }
        var postgres: String { directory + "/postgres" }

        static func find() throws(PostgresError) -> Self {
            let search = (environment("PATH") ?? "").split(separator: ":").map(String.init)
            guard let directory = (configured() + installed() + search).first(where: isComplete) else {
                throw .cluster("PostgreSQL's server is not installed; on Debian or Ubuntu: apt-get install postgresql")
            }
            return Self(directory: directory)
        }

        private static func isComplete(_ directory: String) -> Bool {
            ["initdb", "postgres"].allSatisfy { access("\(directory)/\($0)", X_OK) == 0 }
        }

        private static func configured() -> [String] {
            guard let pipe = popen("pg_config --bindir 2>/dev/null", "r") else { return [] }
            defer { pclose(pipe) }
            var line = [CChar](repeating: 0, count: 4096)
            let text = line.withUnsafeMutableBufferPointer { buffer in
                fgets(buffer.baseAddress, Int32(buffer.count), pipe).map { String(cString: $0) }
            }
            return text.map { [oneLine($0)] } ?? []
        }

        /// Debian keeps every major version apart; the newest first.
        private static func installed() -> [String] {
            let root = "/usr/lib/postgresql"
            let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
            return versions.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }
        }
    }

    /// Whom the server runs as: PostgreSQL refuses root.
    struct User {
        let id: uid_t
        let group: gid_t
        /// What to put before a command so that this user runs it.
        let command: [String]

        static func toRun(owning data: String) throws(PostgresError) -> Self {
            guard geteuid() == 0 else { return Self(id: geteuid(), group: getegid(), command: []) }
            var status = stat()
            if stat(data, &status) == 0, status.st_uid != 0 {
                return Self(unprivileged: status.st_uid, group: status.st_gid)
            }
            guard let user = named("postgres") ?? named("nobody") else {
                throw .cluster("PostgreSQL does not run as root, and there is no user postgres or nobody")
            }
            return user
        }

        private init(id: uid_t, group: gid_t, command: [String]) {
            self.id = id
            self.group = group
            self.command = command
        }

        private init(unprivileged id: uid_t, group: gid_t) {
            let setpriv = ["/usr/bin/env", "setpriv", "--reuid=\(id)", "--regid=\(group)", "--clear-groups", "--"]
            self.init(id: id, group: group, command: setpriv)
        }

        private static func named(_ name: String) -> Self? {
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            var buffer = [CChar](repeating: 0, count: 4096)
            guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
            return Self(unprivileged: entry.pw_uid, group: entry.pw_gid)
        }
    }
}

func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}
