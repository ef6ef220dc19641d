import Foundation
import GatehouseServer
import Logging
import Postgres

/// The PostgreSQL server or Citus cluster that the environment variable `GATEHOUSE_TEST_DATABASE` names.
///
/// The variable is the URL of a database that exists. If that database has the extension `citus`, its nodes are the
/// cluster, and the tables of each test database are distributed over them. Every database of this process has a name
/// with the same random prefix, and a shell drops those that are left when the process ends, even by SIGKILL.
final class NamedServer: DatabaseHost {
    static let variable = "GATEHOUSE_TEST_DATABASE"

    private struct Node {
        let host: String
        let port: Int
    }

    private let base: URLComponents
    /// The coordinator and the workers of a Citus cluster; empty for a plain server.
    private let nodes: [Node]
    private let prefix = "gatehouse_" + String(UInt32.random(in: .min ... .max), radix: 36)
    private let lifeline: Int32

    var isDistributed: Bool { !nodes.isEmpty }

    /// Connects to the server that the environment names; nil if it names none.
    init?() async throws {
        guard let url = ProcessInfo.processInfo.environment[Self.variable], !url.isEmpty else { return nil }
        guard let base = URLComponents(string: url), base.scheme?.hasPrefix("postgres") == true else {
            throw PostgresError.invalidConfiguration("\(Self.variable) is not a URL such as postgresql://host/database")
        }
        self.base = base
        nodes = try await Self.nodes(of: Self.url(base))
        let addresses = nodes.isEmpty ? [Self.url(base)] : nodes.map { Self.url(base, on: $0) }
        lifeline = try Self.dropAtExit(databasesNamed: prefix, at: addresses)
    }

    func url(database: String) -> String { Self.url(base, database: name(database)) }

    func createDatabase(_ name: String, template: String?) async throws {
        let name = self.name(name)
        let copy = template.map { " TEMPLATE \(self.name($0))" } ?? ""
        try await onEveryNode("CREATE DATABASE \(name)\(copy)")
        guard isDistributed, template == nil else { return }
        try await onEveryNode("CREATE EXTENSION citus", database: name)
        let (base, nodes) = (base, nodes)
        try await Self.withDatabase(Self.url(base, database: name)) { database in
            for (index, node) in nodes.enumerated() {
                let add: Statement = index == 0 ? .setCoordinator : .addNode
                _ = try await database.execute(add, .text(node.host), .int(node.port))
            }
        }
    }

    /// Distributes the tables, and ends the connections of Citus's own processes, because PostgreSQL copies only a
    /// database without connections.
    func prepareTemplate(_ name: String) async throws {
        guard isDistributed else { return }
        try await Self.withDatabase(url(database: name)) { try await Distribution(database: $0).run() }
        let name = self.name(name)
        try await onEveryNode("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
        try await onEveryNode("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(name)'")
    }

    func drop(url: String) async throws {
        guard let name = URLComponents(string: url)?.path.dropFirst(), name.hasPrefix(prefix) else { return }
        try await onEveryNode("DROP DATABASE \(name) WITH (FORCE)")
    }

    private func name(_ name: String) -> String { "\(prefix)_\(name)" }

    private func onEveryNode(_ sql: String, database: String? = nil) async throws {
        let urls = isDistributed ? nodes.map { Self.url(base, on: $0, database: database) } : [Self.url(base)]
        try await onOwnThread { for url in urls { try Self.run(sql, url: url) } }
    }

    /// Runs a statement; again for up to a minute, while a process of Citus is still leaving a database that it needs for
    /// itself (55006), for which PostgreSQL waits five seconds each time.
    private static func run(_ sql: String, url: String) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try Database.runAlone(sql, url: url)
            } catch {
                guard case .server(let refusal) = error, refusal.sqlState == "55006", .now < deadline else {
                    throw error
                }
                Thread.sleep(forTimeInterval: 0.1)
            }
        }
    }

    /// A URL whose host, port and role are parameters, as in the URLs of `PrivateCluster`.
    private static func url(_ base: URLComponents, on node: Node? = nil, database: String? = nil) -> String {
        var given = (base.queryItems ?? []).reduce(into: [String: String]()) { $0[$1.name] = $1.value }
        given["host"] = node?.host ?? base.host.flatMap { $0.isEmpty ? nil : $0 } ?? given["host"] ?? "localhost"
        given["port"] = (node?.port ?? base.port).map(String.init) ?? given["port"] ?? "5432"
        given["user"] = base.user ?? given["user"]
        given["password"] = base.password ?? given["password"]
        var components = URLComponents()
        components.scheme = "postgresql"
        components.host = ""
        components.path = database.map { "/\($0)" } ?? base.path
        // The host is first, as in `PrivateCluster.url`.
        components.queryItems = given.sorted { $0.key == "host" || $1.key != "host" && $0.key < $1.key }
            .map { URLQueryItem(name: $0.key, value: $0.value) }
        return components.string ?? ""
    }

    private static func nodes(of url: String) async throws -> [Node] {
        try await withDatabase(url) { database in
            guard var answer = try await database.first(.hasCitus), try answer.next() else { return [] }
            return try await database.execute(.nodes).decoded { try Node(host: $0.next(), port: $0.next()) }
        }
    }

    /// Connects to a database while `body` runs.
    static func withDatabase<Output>(_ url: String, _ body: (Database) async throws -> Output) async throws
        -> Output
    {
        var configuration = Database.Configuration(url: url)
        configuration.pipelined = 1
        configuration.transactions = 1
        configuration.deadline = .seconds(60)
        configuration.statementTimeout = .seconds(60)
        let database = Database(configuration, logger: Logger(label: "template"))
        database.start()
        return try await attempt {
            try await body(database)
        } finally: {
            await database.stop()
        }
    }

    /// Starts the shell that drops the databases.
    ///
    /// - Returns: the socket whose end it waits for, which only this process holds.
    private static func dropAtExit(databasesNamed prefix: String, at urls: [String]) throws -> Int32 {
        let script = """
            while read -r line; do :; done
            for url; do
                echo "SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database
                       WHERE starts_with(datname, '\(prefix)') \\gexec" | psql -qX "$url"
            done
            """
        let ends = try ChildProcess.socketPair()
        defer { close(ends.child) }
        let output = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(output) }
        _ = try ChildProcess(["/bin/sh", "-c", script, "gatehouse-drop"] + urls, input: ends.child, output: output)
        return ends.own
    }
}

extension Statement {
    fileprivate static let hasCitus = Self(.read, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')")
    fileprivate static let nodes = Self(
        .read,
        """
        SELECT nodename::text, nodeport::bigint FROM pg_dist_node
         WHERE isactive AND noderole = 'primary' ORDER BY groupid
        """)
    fileprivate static let setCoordinator = Self(.write, "SELECT citus_set_coordinator_host($1, $2::bigint::int)")
    fileprivate static let addNode = Self(.write, "SELECT citus_add_node($1, $2::bigint::int)")
}
