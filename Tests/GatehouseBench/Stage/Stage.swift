import Accounts
import Foundation
import GatehouseServer
import Passwords
import Synchronization

/// The environment of all measurements: a private PostgreSQL that syncs its commits, people in two applications, a
/// `gatehouse serve` for them, and an empty server.
///
/// All files are in the cluster's directory, which is removed when this process ends, even if it is killed.
struct Stage: Sendable {
    static let publicURL = "http://127.0.0.1:1"
    private static let masterKey = Data(SystemRandom.bytes(32)).base64EncodedString()
    /// Two connections per hashing thread: enough that none is idle, and few enough that one client's requests are not
    /// refused on a slow machine, which would measure the refusals.
    static let signInConnections = 2 * hashingThreads
    /// How many threads of the server hash passwords.
    static let hashingThreads = HashingPool.threads(onCores: ProcessInfo.processInfo.activeProcessorCount)
    static let peopleOfEach = 128
    private static let loads = Atomic<Int>(0)

    let databaseURL: String
    let seeder: Seeder
    let gatehouse: ServerProcess
    let emptyRoute: ServerProcess
    let identityProvider: IdentityProvider
    /// The path of the server's configuration file.
    let configuration: String
    let rs256: Application
    let es256: Application
    let processes: ProcessorMeter.Processes
    private let people: [Application.ID: [Person]]
    private let directory: String

    /// Runs the body with a stage.
    ///
    /// After an error, its processes run on until this process ends, which follows at once.
    static func with<Output>(_ body: (Stage) async throws -> Output) async throws -> Output {
        try await with(databases: ["bench"]) { try await body($0[0]) }
    }

    /// Runs the body with one stage for each database of one PostgreSQL server.
    static func with<Output>(databases: [String], _ body: ([Stage]) async throws -> Output) async throws -> Output {
        progress("setting up")
        var options = PrivateCluster.Options()
        options.ephemeral = true
        options.settings["min_wal_size"] = "\(Seeder.logFiles * 16)MB"
        // The directory is not in /tmp, which may be in memory, because commits must reach a disk.
        let directory = "/var/tmp/gatehouse-bench-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let cluster = PrivateCluster(directory: directory, options: options)
        try await cluster.start()
        var stages: [Stage] = []
        for database in databases {
            try await cluster.createDatabase(database)
            let files = "\(directory)/\(database)"
            try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: false)
            stages.append(try await Stage(databaseURL: cluster.url(database: database), directory: files))
        }
        try await stages.first?.seeder.createLogFiles()
        let result = try await body(stages)
        for stage in stages { try await stage.end() }
        await cluster.stop()
        return result
    }

    private func end() async throws {
        try await emptyRoute.stop()
        try await gatehouse.stop()
        identityProvider.stop()
        await seeder.stop()
    }

    private init(databaseURL: String, directory: String) async throws {
        self.databaseURL = databaseURL
        self.directory = directory
        seeder = try await Seeder(databaseURL: databaseURL, masterKey: Self.masterKey)
        rs256 = try await seeder.application(named: "rs256", issuer: Self.publicURL, algorithm: .rs256)
        es256 = try await seeder.application(named: "es256", issuer: "\(Self.publicURL)/apps/es256", algorithm: .es256)
        people = [
            rs256.id: try await seeder.people(Self.peopleOfEach, in: rs256),
            es256.id: try await seeder.people(Self.peopleOfEach, in: es256),
        ]
        identityProvider = try await IdentityProvider.start()
        configuration = "\(directory)/gatehouse.yaml"
        let text = Self.configuration(databaseURL: databaseURL, issuer: identityProvider.issuer, directory: directory)
        try Data(text.utf8).write(to: URL(filePath: configuration))
        gatehouse = try await Self.serve(configuration, log: "\(directory)/gatehouse.log")
        emptyRoute = try await ServerProcess.start(
            [try Self.program(), "empty-route"], log: "\(directory)/empty-route.log")
        processes = .init(servers: [gatehouse.id, emptyRoute.id], database: try await seeder.postmaster())
    }

    /// Returns a configuration with default settings, except for rate limits and HTTPS, which are off.
    private static func configuration(databaseURL: String, issuer: String, directory: String) -> String {
        """
        server: { port: 0, publicURL: "\(publicURL)", development: true }
        database: { url: "\(databaseURL)" }
        secrets: { masterKey: "\(masterKey)" }
        rateLimits: off
        network: { allowPrivateHosts: true }
        defaultApplication: rs256
        applications:
          rs256:
            providers: { email: { enabled: true } }
            dialects: { immich: { version: "1.119.0" } }
          es256:
            tokens: { algorithm: ES256 }
            linking: { maximumIdentities: 1000 }
            deletion: { ledger: "\(directory)/ledger" }
            providers:
              email: { enabled: true }
              anonymous: { enabled: true }
              loopback:
                { kind: oidc, enabled: true, issuer: "\(issuer)", clientID: \(IdentityProvider.clientID),
                  clientSecret: none }
            openid:
              clients:
                \(RelyingParty.client):
                  name: Bench
                  secret: "\(RelyingParty.secret)"
                  redirectURIs: ["\(RelyingParty.redirectURI)"]
                  firstParty: true
                  scopes: [openid, email, offline_access]
        """
    }
}

extension Stage {
    /// Runs the body beside another `gatehouse serve` with the same database and configuration.
    ///
    /// With `isBehindProxy`, that server trusts the `X-Forwarded-For` of this machine.
    func withReplica<Output>(
        _ name: String, isBehindProxy: Bool = false, _ body: (ServerProcess) async throws -> Output
    ) async throws -> Output {
        var file = configuration
        if isBehindProxy {
            let text = try String(contentsOfFile: configuration, encoding: .utf8)
                .replacing("server: { ", with: #"server: { trustedProxies: ["127.0.0.1"], "#)
            file = try write(text, to: "\(name).yaml")
        }
        let server = try await Self.serve(file, log: "\(directory)/\(name).log")
        do {
            let result = try await body(server)
            try await server.stop()
            return result
        } catch {
            try? await server.stop()
            throw error
        }
    }

    private static func serve(_ configuration: String, log: String) async throws -> ServerProcess {
        try await ServerProcess.start([try server(), "serve", "--config", configuration], log: log)
    }

    /// Adds people to the ES256 application, and then runs `VACUUM` and `ANALYZE`.
    ///
    /// - Returns: the lines that `gatehouse-bench seed` printed.
    func seed(_ count: Int, printing printed: Int) async throws -> [Substring] {
        let output = "\(directory)/seed.out"
        _ = try await Child.output(
            of: [
                "/bin/sh", "-c", #"exec "$@" > "$0""#, output, try Self.program(), "seed", "--config",
                configuration, "--application", es256.name, "--among-others", "--accounts", "\(count)",
                "--print-tokens", "\(printed)",
            ], isShown: true)
        progress("vacuuming")
        _ = try await Child.output(
            of: [try PrivateCluster.programs(["vacuumdb"])[0], "--analyze", "--dbname", databaseURL])
        return try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
    }

    /// Returns the path of the measured program, which is in the same directory as this one.
    private static func server() throws -> String {
        URL(filePath: try program()).deletingLastPathComponent().appending(path: "gatehouse").path
    }

    /// Returns the path of this program.
    private static func program() throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }

    func people(of application: Application) -> [Person] {
        people[application.id] ?? []
    }

    /// Returns the prefix of the application's paths.
    func path(of application: Application) -> String {
        application.id == rs256.id ? "" : "/apps/\(application.name)"
    }

    func wrk(_ script: WrkScript, connections: Int, lines: [String]) throws -> Wrk {
        // The file name has a number, because two loads of one script may be prepared before either runs.
        let number = Self.loads.wrappingAdd(1, ordering: .relaxed).newValue
        return Wrk(
            script: try write(script.lua, to: "\(number)-\(script.name)"),
            lines: try write(lines.map { $0 + "\n" }.joined(), to: "\(number)-\(script.name).lines"),
            connections: connections)
    }

    /// - Returns: the path of the file.
    func write(_ text: String, to name: String) throws -> String {
        let path = "\(directory)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }
}
