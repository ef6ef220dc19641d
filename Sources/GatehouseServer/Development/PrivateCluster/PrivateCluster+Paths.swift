internal import Foundation

extension PrivateCluster {
    /// The directories and files of a cluster, and the processes that use them.
    struct Paths: Sendable {
        static let port = 5432
        private static let socketName = ".s.PGSQL.\(port)"
        /// The longest path of a socket that the operating system allows, without the final NUL.
        private static let socketPathLimit = 107
        /// How long to wait for a server to shut down after the process that owned it died.
        private static let patience = Duration.seconds(3)

        let directory: String
        let socket: String

        init(directory: String) {
            let path = URL(filePath: directory).path
            self.directory = path
            // FNV-1a, because `hashValue` differs from one process to the next.
            let hash = path.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
            let fits = "\(path)/socket/\(Self.socketName)".utf8.count <= Self.socketPathLimit
            socket = fits ? "\(path)/socket" : "/tmp/gatehouse-\(geteuid())-\(String(hash, radix: 36))"
        }

        var data: String { directory + "/data" }
        var log: String { directory + "/postgres.log" }

        /// Empties the log file and runs the body with its descriptor, which is open for writing.
        func withLog<Output>(_ body: (Int32) throws -> Output) throws -> Output {
            let descriptor = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw failure("cannot write \(log): \(reason(errno))") }
            defer { close(descriptor) }
            return try body(descriptor)
        }

        /// The last line of the log that gives the reason of a failure.
        var lastLogLine: String {
            let text = FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
            let lines = text.split(separator: "\n")
            return String(
                lines.last { $0.contains("FATAL") || $0.contains("error:") } ?? lines.last ?? "no reason given")
        }

        func make(for user: User) throws {
            // If the server runs as another user, that user must be able to enter the directory, but not to list it.
            let mode = user.command.isEmpty ? 0o700 : 0o711
            if !FileManager.default.fileExists(atPath: directory) {
                do {
                    try FileManager.default.createDirectory(
                        atPath: directory, withIntermediateDirectories: true, attributes: nil)
                } catch {
                    throw failure("cannot create \(directory): \(error.operatingSystemReason)")
                }
                chmod(directory, mode_t(mode))
            }
            try makePrivate(socket, for: user)
        }

        /// Creates an empty folder for `initdb`.
        func makeDraft(for user: User) throws -> String {
            let draft = data + ".draft"
            try? FileManager.default.removeItem(atPath: draft)
            try makePrivate(draft, for: user)
            return draft
        }

        func moveDraft(_ draft: String) throws {
            guard rename(draft, data) == 0 else { throw failure("cannot create \(data): \(reason(errno))") }
        }

        /// Creates a folder that only `user` may enter.
        ///
        /// It also checks an existing folder, because the socket is at a short path that another user could have
        /// created.
        private func makePrivate(_ path: String, for user: User) throws {
            if mkdir(path, 0o700) == 0 {
                guard user.command.isEmpty || chown(path, user.id, user.group) == 0 else {
                    throw failure("cannot give \(path) to user \(user.id): \(reason(errno))")
                }
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard attributes[.type] as? FileAttributeType == .typeDirectory,
                (attributes[.ownerAccountID] as? NSNumber)?.uint32Value == user.id,
                (attributes[.posixPermissions] as? NSNumber).map({ $0.intValue & 0o077 }) == 0
            else { throw failure("\(path) is not a private directory of user \(user.id)") }
        }

        /// Removes the lock files that a killed server left behind.
        ///
        /// PostgreSQL does this itself, unless another process has the killed server's process id by then, as happens
        /// in containers.
        func releaseLocks() throws {
            let deadline = ContinuousClock.now + Self.patience
            while let user = users.first {
                guard .now < deadline else { throw failure("another server (process \(user)) is using \(data)") }
                usleep(5_000)
            }
            unlink("\(data)/postmaster.pid")
            for suffix in ["", ".lock"] { unlink("\(socket)/\(Self.socketName)\(suffix)") }
        }

        func killUsers() {
            while case let users = users, !users.isEmpty {
                for user in users { kill(user, SIGKILL) }
                usleep(1_000)
            }
        }

        /// The processes whose working directory is the data directory, which includes every process of a PostgreSQL
        /// server.
        var users: [pid_t] {
            let files = FileManager.default
            let processes = (try? files.contentsOfDirectory(atPath: "/proc")) ?? []
            let data = URL(filePath: data).resolvingSymlinksInPath().path
            return processes.compactMap(pid_t.init).filter { process in
                (try? files.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")) == data
            }
        }

        private func failure(_ text: String) -> ServerError { PrivateCluster.failure(text) }
    }
}
