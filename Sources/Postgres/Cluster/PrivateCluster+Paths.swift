import FoundationEssentials
import Glibc

extension PrivateCluster {
    /// Where a cluster keeps what, and who is using it.
    struct Paths: Sendable {
        static let port = 5432
        /// What the operating system allows the path of a socket, less its final NUL.
        private static let socketPathLimit = 107
        /// How long a server whose owner has died may take to shut down.
        private static let patience = Nanoseconds.seconds(3)

        let directory: String
        let socket: String

        init(directory: String) {
            let isAbsolute = directory.hasPrefix("/")
            let path = isAbsolute ? directory : FileManager.default.currentDirectoryPath + "/" + directory
            self.directory = path
            let fingerprint = String(Fingerprint.empty.adding(path.utf8).value, radix: 36)
            let fits = "\(path)/socket/\(Self.socketName)".utf8.count <= Self.socketPathLimit
            socket = fits ? "\(path)/socket" : "/tmp/gatehouse-\(geteuid())-\(fingerprint)"
        }

        var data: String { directory + "/data" }
        var log: String { directory + "/postgres.log" }
        private static var socketName: String { ".s.PGSQL.\(port)" }

        func make(for user: User) throws(PostgresError) {
            // another user than this process's must get through, but need not look around
            try makeDirectory(directory, mode: user.command.isEmpty ? 0o700 : 0o711)
            try makePrivate(socket, for: user)
        }

        /// An empty folder for `initdb`.
        func makeDraft(for user: User) throws(PostgresError) -> String {
            let draft = data + ".draft"
            try? FileManager.default.removeItem(atPath: draft)
            try makePrivate(draft, for: user)
            return draft
        }

        func moveDraft(_ draft: String) throws(PostgresError) {
            guard rename(draft, data) == 0 else { throw .cluster("cannot create \(data): \(reason(errno))") }
        }

        /// A folder only `user` may enter.
        ///
        /// The short one for sockets has a name others could have taken before.
        private func makePrivate(_ path: String, for user: User) throws(PostgresError) {
            if mkdir(path, 0o700) == 0 {
                guard user.command.isEmpty || chown(path, user.id, user.group) == 0 else {
                    throw .cluster("cannot give \(path) to user \(user.id): \(reason(errno))")
                }
            }
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == user.id,
                status.st_mode & 0o077 == 0
            else { throw .cluster("\(path) is not a private directory of user \(user.id)") }
        }

        /// Removes what a killed server left behind.
        ///
        /// PostgreSQL does so itself unless another process has got the old one's number by then, as happens in
        /// containers.
        func releaseLocks() throws(PostgresError) {
            let deadline = Nanoseconds.now + Self.patience
            while let user = users.first {
                guard Nanoseconds.now < deadline else {
                    throw .cluster("another server (process \(user)) is using \(data)")
                }
                usleep(5_000)
            }
            for path in ["\(data)/postmaster.pid", "\(socket)/\(Self.socketName)", "\(socket)/\(Self.socketName).lock"]
            {
                unlink(path)
            }
        }

        func killUsers() {
            while true {
                let users = users
                guard !users.isEmpty else { return }
                for user in users { Glibc.kill(user, SIGKILL) }
                usleep(1_000)
            }
        }

        /// The processes that work in the data directory, as every process of a server does.
        private var users: [pid_t] {
            guard let target = try? FileManager.default.attributesOfItem(atPath: data)[.systemFileNumber] as? UInt64,
                let processes = try? FileManager.default.contentsOfDirectory(atPath: "/proc")
            else { return [] }
            return processes.compactMap(pid_t.init).filter { process in
                var status = stat()
                return stat("/proc/\(process)/cwd", &status) == 0 && status.st_ino == target
            }
        }

        /// With its parents.
        private func makeDirectory(_ path: String, mode: mode_t) throws(PostgresError) {
            // whatever the umask says
            if mkdir(path, mode) == 0 { return _ = chmod(path, mode) }
            if errno == EEXIST { return }
            guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
                throw .cluster("cannot create \(path): \(reason(errno))")
            }
            try makeDirectory(String(path[..<slash]), mode: 0o755)
            guard mkdir(path, mode) == 0, chmod(path, mode) == 0 else {
                throw .cluster("cannot create \(path): \(reason(errno))")
            }
        }
    }
}
