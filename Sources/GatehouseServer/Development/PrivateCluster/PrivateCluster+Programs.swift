internal import Foundation

extension PrivateCluster {
    /// The paths of PostgreSQL's programs, from the first directory that contains all of them.
    ///
    /// It searches the directory that `pg_config` prints, then Debian's directories, then `PATH`.
    package static func programs(_ names: [String]) throws -> [String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let directories = configured() + installed() + path.split(separator: ":").map(String.init)
        let candidates = directories.lazy.map { directory in names.map { "\(directory)/\($0)" } }
        guard let programs = candidates.first(where: { $0.allSatisfy { access($0, X_OK) == 0 } }) else {
            throw failure("PostgreSQL's server is not installed; on Debian or Ubuntu: apt-get install postgresql")
        }
        return programs
    }

    private static func configured() -> [String] {
        guard let pipe = popen("pg_config --bindir 2>/dev/null", "r") else { return [] }
        defer { pclose(pipe) }
        var line = [CChar](repeating: 0, count: 4096)
        let text = line.withUnsafeMutableBufferPointer { buffer in
            fgets(buffer.baseAddress, Int32(buffer.count), pipe).map { String(cString: $0) }
        }
        return text.map { [$0.filter { !$0.isNewline }] } ?? []
    }

    /// The directories of Debian's packages, one for each major version, the newest first.
    private static func installed() -> [String] {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }
    }

    /// The user that the server runs as, which cannot be root because PostgreSQL refuses it.
    struct User {
        let id: uid_t
        let group: gid_t
        /// The words to put before a command to run it as this user.
        let command: [String]

        /// The user who runs PostgreSQL: the user of this process, unless that is root.
        ///
        /// PostgreSQL refuses to run as root, so root starts it as the owner of the directory `data`. If root owns that
        /// directory, it starts PostgreSQL as the user `postgres`, or as the user `nobody` if there is no `postgres`.
        static func owning(_ data: String) throws -> Self {
            guard geteuid() == 0 else { return Self(id: geteuid(), group: getegid(), command: []) }
            if let attributes = try? FileManager.default.attributesOfItem(atPath: data),
                let owner = (attributes[.ownerAccountID] as? NSNumber)?.uint32Value, owner != 0,
                let group = (attributes[.groupOwnerAccountID] as? NSNumber)?.uint32Value
            {
                return unprivileged(owner, group)
            }
            guard let entry = getpwnam("postgres") ?? getpwnam("nobody") else {
                throw failure("PostgreSQL does not run as root, and there is no user postgres or nobody")
            }
            return unprivileged(entry.pointee.pw_uid, entry.pointee.pw_gid)
        }

        private static func unprivileged(_ id: uid_t, _ group: gid_t) -> Self {
            let setpriv = ["/usr/bin/env", "setpriv", "--reuid=\(id)", "--regid=\(group)", "--clear-groups", "--"]
            return Self(id: id, group: group, command: setpriv)
        }
    }
}
