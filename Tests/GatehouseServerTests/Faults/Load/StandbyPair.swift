import Foundation
import GatehouseTesting
import Glibc
import Migrations
import Postgres
import Testing

@testable import GatehouseServer

/// A PostgreSQL primary and its synchronous standby, which replicas reach through proxies that can fence either.
struct StandbyPair: Sendable {
    let primary: PrivateCluster
    let standby: PrivateCluster
    private let fences: [(primary: DatabaseProxy, standby: DatabaseProxy)]

    /// The URLs of the database for the two replicas; notifications do not reach the second one.
    var urls: (first: String, second: String) {
        let url = primary.url(database: Self.database)
        let urls = fences.map { DatabaseProxy.url(url, by: [$0.primary, $0.standby]) }
        return (urls[0], urls[1])
    }

    /// The URL of the database with both hosts and without proxies.
    var unfencedURL: String {
        let sockets = "\(primary.paths.socket),\(standby.paths.socket)"
        return primary.url(database: Self.database).replacing(primary.paths.socket, with: sockets)
    }

    private static let database = "faults"

    static func with(_ body: @Sendable (StandbyPair) async throws -> Void) async throws {
        let primary = TemporaryPostgres.cluster(durable: true)
        let standby = TemporaryPostgres.cluster(durable: true)
        do {
            try await primary.start()
            try await copy(primary, to: standby)
            try await standby.start()
            for sql in [
                "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()",
                "CREATE DATABASE \(database)",
            ] {
                try Database.runAlone(sql, url: primary.url)
            }
            let urls = (primary.url(database: database), standby.url(database: database))
            let fences = try [DatabaseProxy.Behaviour.forwarding, .droppingNotifications].map { behaviour in
                (try DatabaseProxy(before: urls.0, behaviour), try DatabaseProxy(before: urls.1, behaviour))
            }
            defer { fences.forEach { for proxy in [$0.0, $0.1] { proxy.stop() } } }
            try await body(StandbyPair(primary: primary, standby: standby, fences: fences))
        } catch {
            await remove([primary, standby])
            throw error
        }
        await remove([primary, standby])
    }

    /// Makes `standby` a copy of the running `primary` that follows it.
    private static func copy(_ primary: PrivateCluster, to standby: PrivateCluster) async throws {
        let program = try PrivateCluster.programs(["pg_basebackup", "postgres"])[0]
        try await onOwnThread {
            let user = try PrivateCluster.User.owning(standby.paths.data)
            try standby.paths.make(for: user)
            let draft = try standby.paths.makeDraft(for: user)
            let command = ["-D", draft, "-d", primary.url, "--write-recovery-conf", "--checkpoint=fast"]
            let status = try standby.paths.withLog { log in
                try ChildProcess(user.command + [program] + command, output: log).wait()
            }
            try #require(status == 0, "\(standby.paths.lastLogLine)")
            try standby.paths.moveDraft(draft)
        }
    }

    private static func remove(_ clusters: [PrivateCluster]) async {
        for cluster in clusters {
            await cluster.crash()
            for path in [cluster.paths.directory, cluster.paths.socket] {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
    }

    /// Stops the processes of the primary without ending them, like a machine that hangs.
    func hangPrimary() {
        for process in primary.paths.users { kill(process, SIGSTOP) }
    }

    func wakePrimary() {
        for process in primary.paths.users { kill(process, SIGCONT) }
    }

    /// Cuts the primary off from the servers.
    func fencePrimary() {
        for fence in fences { fence.primary.stop() }
    }

    func promoteStandby() throws {
        try Database.runAlone("SELECT pg_promote()", url: standby.url)
    }
}
